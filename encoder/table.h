// SPDX-License-Identifier: MIT
// A table from 64-bit keys to numbers. Called by callstacks.c and report/. Flusher context, or any single
// thread. Memory grows with the most that it has held.
#ifndef PFT_TABLE_H
#define PFT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"

// Zeroed, it is an empty one.
struct pft_table {
	struct pft_table_entry *entries;
	uint32_t room, used; // room is a power of two
};

// The number of `key`; 0 when it has none.
uint32_t pft_table_get(const struct pft_table *table, uint64_t key);

// Gives `key`, which has none, a number other than 0. False when out of memory.
bool pft_table_put(struct pft_table *table, struct pft_arena *arena, uint64_t key, uint32_t number);

void pft_table_clear(struct pft_table *table);

#endif
