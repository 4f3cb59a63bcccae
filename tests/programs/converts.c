// SPDX-License-Identifier: MIT
// The C library opens modules of its own: character sets, and what /etc/nsswitch.conf names.
#include <iconv.h>
#include <pwd.h>

#include "tests/programs/common.h"

static size_t convert(const char *charset)
{
	char in[] = "abc", out[64];
	char *from = in, *to = out;
	size_t left = sizeof(in), room = sizeof(out);
	iconv_t how = iconv_open(charset, "UTF-8");

	MUST(how != (iconv_t)-1);
	MUST(iconv(how, &from, &left, &to, &room) != (size_t)-1);
	MUST(iconv_close(how) == 0);
	return sizeof(out) - room;
}

int main(void)
{
	size_t sum = 0;

	for (int i = 0; i < 20; i++)
		sum += convert("KOI8-R") + convert("UTF-16") + convert("EUC-JP") + convert("IBM037");
	printf("%zu %s\n", sum, getpwuid(0)->pw_name);
	return 0;
}
