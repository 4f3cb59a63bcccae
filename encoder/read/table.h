// SPDX-License-Identifier: MIT
// A table from numbers to things: tracks by uuid, sequences by id, names by iid. Keys come from a file that
// nobody vouches for.
#ifndef PFT_READ_TABLE_H
#define PFT_READ_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct pft_read_table {
	struct pft_read_table_entry *entries;
	size_t room, used; // room is a power of two, or 0
};

void *pft_read_table_find(const struct pft_read_table *table, uint64_t key);

// The place of the value for `key`, which is made (NULL) when there is none. Valid until the next one is
// made.
void **pft_read_table_at(struct pft_read_table *table, uint64_t key);

// Forgets everything; `drop`, unless NULL, is called for each value.
void pft_read_table_clear(struct pft_read_table *table, void (*drop)(void *value));

#endif
