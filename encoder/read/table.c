// SPDX-License-Identifier: MIT
// Open addressing: see table.h. Nothing is removed alone, so a search ends at an empty place.
#include "encoder/read/table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "encoder/read/memory.h"

#define ROOM_MIN 16

struct pft_read_table_entry {
	uint64_t key;
	void *value;
	bool taken;
};

static uint64_t mix(uint64_t key)
{
	key = (key ^ (key >> 32)) * UINT64_C(0x9e3779b97f4a7c15);
	return key ^ (key >> 29);
}

// The entry of `key`, or the empty one where it belongs.
static struct pft_read_table_entry *place(const struct pft_read_table *table, uint64_t key)
{
	size_t at = mix(key) & (table->room - 1);

	while (table->entries[at].taken && table->entries[at].key != key)
		at = (at + 1) & (table->room - 1);
	return &table->entries[at];
}

void *pft_read_table_find(const struct pft_read_table *table, uint64_t key)
{
	return table->room ? place(table, key)->value : NULL;
}

static void grow(struct pft_read_table *table)
{
	struct pft_read_table old = *table;

	table->room = old.room ? 2 * old.room : ROOM_MIN;
	table->entries = pft_read_alloc(table->room * sizeof *table->entries);
	for (size_t i = 0; i < old.room; i++)
		if (old.entries[i].taken)
			*place(table, old.entries[i].key) = old.entries[i];
	free(old.entries);
}

void **pft_read_table_at(struct pft_read_table *table, uint64_t key)
{
	struct pft_read_table_entry *entry;

	if (2 * (table->used + 1) > table->room)
		grow(table);
	entry = place(table, key);
	if (!entry->taken) {
		*entry = (struct pft_read_table_entry){.key = key, .taken = true};
		table->used++;
	}
	return &entry->value;
}

void pft_read_table_clear(struct pft_read_table *table, void (*drop)(void *value))
{
	for (size_t i = 0; drop && i < table->room; i++)
		if (table->entries[i].taken)
			drop(table->entries[i].value);
	free(table->entries);
	*table = (struct pft_read_table){0};
}
