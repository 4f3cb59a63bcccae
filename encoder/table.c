// SPDX-License-Identifier: MIT
// Open addressing: see table.h. Flusher context. The rule: at least half of the entries are empty, so that
// every search ends, and soon.
#include "encoder/table.h"

#include <string.h>

#define ROOM_FIRST 64

struct pft_table_entry {
	uint64_t key;
	uint32_t number; // 0: the entry is empty
};

// The entry that holds `key`, or the empty one where it belongs.
static struct pft_table_entry *entry_of(const struct pft_table *table, uint64_t key)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); // 2^64 / golden ratio: spreads near keys
	uint32_t mask = table->room - 1;
	uint32_t place = (uint32_t)((key * odd) >> 32) & mask;

	while (table->entries[place].number && table->entries[place].key != key)
		place = (place + 1) & mask;
	return &table->entries[place];
}

uint32_t pft_table_get(const struct pft_table *table, uint64_t key)
{
	return table->room ? entry_of(table, key)->number : 0;
}

static bool grow(struct pft_table *table, struct pft_arena *arena)
{
	struct pft_table larger = {.room = table->room ? 2 * table->room : ROOM_FIRST, .used = table->used};

	larger.entries = pft_arena_alloc(arena, larger.room * sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (uint32_t i = 0; i < table->room; i++)
		if (table->entries[i].number)
			*entry_of(&larger, table->entries[i].key) = table->entries[i];
	*table = larger;
	return true;
}

bool pft_table_put(struct pft_table *table, struct pft_arena *arena, uint64_t key, uint32_t number)
{
	if (2 * (table->used + 1) > table->room && !grow(table, arena))
		return false;
	*entry_of(table, key) = (struct pft_table_entry){.key = key, .number = number};
	table->used++;
	return true;
}

void pft_table_clear(struct pft_table *table)
{
	if (table->used)
		memset(table->entries, 0, table->room * sizeof(*table->entries));
	table->used = 0;
}
