// SPDX-License-Identifier: MIT
// Building short texts in a buffer of the caller: no stdio, no locale, no allocation, so it works in
// every context, the flusher's bare thread included. What does not fit is cut; the text always ends in NUL.
#ifndef PFT_BASE_TEXT_H
#define PFT_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pft_text {
	char *start;
	size_t size; // of the buffer, the final NUL included; at least 1
	size_t used; // without the NUL
	bool cut; // something did not fit
};

struct pft_text pft_text_in(char *buffer, size_t size);
void pft_text_add(struct pft_text *text, const char *string);
void pft_text_add_bytes(struct pft_text *text, const char *bytes, size_t size);
void pft_text_add_number(struct pft_text *text, uint64_t number);
// Decimal, zero-padded on the left to `width` digits.
void pft_text_add_padded(struct pft_text *text, uint64_t number, unsigned width);
void pft_text_add_hex(struct pft_text *text, uint64_t number);

#endif
