// SPDX-License-Identifier: MIT
// backtrace() from inside hooked frames sees the whole stack, main included.
// build: -lcalls -rdynamic -fno-optimize-sibling-calls
#include <execinfo.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

// A symbol line reads "object(function+offset) [address]".
static void print_if_ours(const char *line)
{
	static const char *const ours[] = {"(look+", "(deeper+", "(main+", "(through+", "(through_again+"};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (strstr(line, ours[i]))
			puts(ours[i]);
}

int look(void *unused)
{
	void *frames[64];
	int count = backtrace(frames, 64);
	char **symbols = backtrace_symbols(frames, count);

	(void)unused;
	for (int i = 0; i < count; i++)
		print_if_ours(symbols[i]);
	free(symbols);
	return 0;
}

int deeper(void *context)
{
	return through_again(look, context) + 1;
}

int main(void)
{
	printf("%d\n", through(deeper, NULL));
	return 0;
}
