// SPDX-License-Identifier: MIT
// Strings, each held once and known by a number. Called by names.c and summary.c. Flusher context, or any
// single thread. Memory grows with the number of different strings.
#ifndef PFT_STRINGS_H
#define PFT_STRINGS_H

#include <stdint.h>

#include "encoder/base/arena.h"

// Zeroed but for `memory`, it is an empty one.
struct pft_strings {
	struct pft_arena *memory;
	const char **texts; // by number
	uint32_t room, used;
	uint32_t *buckets; // numbers, by hash; a power of two of them
	uint32_t buckets_room;
};

// The number of `text`, which is copied when it is new. 0 when out of memory.
uint32_t pft_strings_number(struct pft_strings *strings, const char *text);

// The text of a number; NULL for 0.
const char *pft_strings_text(const struct pft_strings *strings, uint32_t number);

#endif
