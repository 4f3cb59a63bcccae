// SPDX-License-Identifier: MIT
// Short texts, a piece at a time, in a buffer of the caller. Any context. The rule: after every call the
// text ends in NUL inside its buffer.
#include "encoder/base/text.h"

#include <string.h>

// Decimal digits of the greatest 64-bit number.
#define DIGITS_MAX 20

struct pft_text pft_text_in(char *buffer, size_t size)
{
	buffer[0] = '\0';
	return (struct pft_text){.start = buffer, .size = size};
}

void pft_text_add_bytes(struct pft_text *text, const char *bytes, size_t size)
{
	size_t room = text->size - 1 - text->used;

	if (size > room) {
		size = room;
		text->cut = true;
	}
	if (size != 0) // else bytes may be NULL
		memcpy(text->start + text->used, bytes, size);
	text->used += size;
	text->start[text->used] = '\0';
}

void pft_text_add(struct pft_text *text, const char *string)
{
	pft_text_add_bytes(text, string, strlen(string));
}

static void add_number(struct pft_text *text, uint64_t number, unsigned base, unsigned width)
{
	char digits[DIGITS_MAX];
	unsigned used = 0;

	do {
		digits[DIGITS_MAX - ++used] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number != 0);
	for (unsigned i = used; i < width; i++)
		pft_text_add_bytes(text, "0", 1);
	pft_text_add_bytes(text, digits + DIGITS_MAX - used, used);
}

void pft_text_add_number(struct pft_text *text, uint64_t number)
{
	add_number(text, number, 10, 1);
}

void pft_text_add_padded(struct pft_text *text, uint64_t number, unsigned width)
{
	add_number(text, number, 10, width);
}

void pft_text_add_hex(struct pft_text *text, uint64_t number)
{
	add_number(text, number, 16, 1);
}
