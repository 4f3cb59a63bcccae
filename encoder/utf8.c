// SPDX-License-Identifier: MIT
// Valid UTF-8 from any bytes: see utf8.h. What counts as a character is table 3-7 of the Unicode standard:
// no overlong forms, no surrogates, nothing above U+10FFFF.
#include "encoder/utf8.h"

#include <stdbool.h>
#include <string.h>

static bool within(unsigned char byte, unsigned char low, unsigned char high)
{
	return byte >= low && byte <= high;
}

static bool continues(unsigned char byte)
{
	return within(byte, 0x80, 0xbf);
}

// Whether the second byte keeps a three- or four-byte character in its range.
static bool second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return within(second, 0xa0, 0xbf);
	case 0xed:
		return within(second, 0x80, 0x9f);
	case 0xf0:
		return within(second, 0x90, 0xbf);
	case 0xf4:
		return within(second, 0x80, 0x8f);
	}
	return continues(second);
}

// The final NUL continues no character.
size_t pft_utf8_character(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;

	if (byte[0] < 0x80)
		return 1;
	if (within(byte[0], 0xc2, 0xdf))
		return continues(byte[1]) ? 2 : 0;
	if (!within(byte[0], 0xe0, 0xf4) || !second_fits(byte[0], byte[1]) || !continues(byte[2]))
		return 0;
	if (byte[0] < 0xf0)
		return 3;
	return continues(byte[3]) ? 4 : 0;
}

size_t pft_utf8_clean(char *to, size_t room, const char *from)
{
	size_t used = 0;

	while (*from) {
		size_t taken = pft_utf8_character(from);
		const char *bytes = taken ? from : PFT_UTF8_REPLACEMENT;
		size_t size = taken ? taken : sizeof PFT_UTF8_REPLACEMENT - 1;

		if (size >= room - used)
			break;
		memcpy(to + used, bytes, size);
		used += size;
		from += taken ? taken : 1;
	}
	to[used] = '\0';
	return used;
}
