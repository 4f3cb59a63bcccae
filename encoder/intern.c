// SPDX-License-Identifier: MIT
// Interned ids of a sequence: see intern.h. Flusher context. All room is made first, then ids are given.
#include "encoder/intern.h"

#include <errno.h>
#include <stdbool.h>

#include "encoder/array.h"

struct pft_intern_entry {
	uint32_t id;
	struct pft_shown shown;
};

static bool room_in_kind(struct pft_intern_kind *kind, struct pft_arena *arena, uint32_t string)
{
	void *grown;

	if (string < kind->room)
		return true;
	grown = pft_array_grow(arena, kind->iids, &kind->room, string, sizeof *kind->iids);
	if (grown)
		kind->iids = grown;
	return grown != NULL;
}

static bool room_for_hook(struct pft_intern *intern, struct pft_arena *arena, uint32_t id)
{
	void *grown;

	if (id < intern->hooks_room)
		return true;
	grown = pft_array_grow(arena, intern->hooks, &intern->hooks_room, id, sizeof *intern->hooks);
	if (grown)
		intern->hooks = grown;
	return grown != NULL;
}

static bool room_for_entry(struct pft_intern *intern, struct pft_arena *arena)
{
	void *grown;

	if (intern->entries_used < intern->entries_room)
		return true;
	grown = pft_array_grow(
		arena, intern->entries, &intern->entries_room, intern->entries_used, sizeof *intern->entries);
	if (grown)
		intern->entries = grown;
	return grown != NULL;
}

// Whether the string had no iid.
static bool define(struct pft_intern_kind *kind, uint32_t string)
{
	if (!string || kind->iids[string])
		return false;
	kind->iids[string] = ++kind->last;
	return true;
}

int pft_intern_add(struct pft_intern *intern, struct pft_arena *arena, uint32_t id, struct pft_shown shown)
{
	int fresh = 0;

	if (!room_for_hook(intern, arena, id) || !room_for_entry(intern, arena) ||
		!room_in_kind(&intern->names, arena, shown.name) ||
		!room_in_kind(&intern->categories, arena, shown.category))
		return -ENOMEM;
	if (define(&intern->names, shown.name))
		fresh |= PFT_INTERN_NEW_NAME;
	if (define(&intern->categories, shown.category))
		fresh |= PFT_INTERN_NEW_CATEGORY;
	intern->hooks[id] =
		(struct pft_iids){intern->names.iids[shown.name], intern->categories.iids[shown.category]};
	intern->entries[intern->entries_used++] = (struct pft_intern_entry){id, shown};
	return fresh;
}

void pft_intern_clear(struct pft_intern *intern)
{
	for (uint32_t i = 0; i < intern->entries_used; i++) {
		const struct pft_intern_entry *entry = &intern->entries[i];

		intern->hooks[entry->id] = (struct pft_iids){0, 0};
		intern->names.iids[entry->shown.name] = 0;
		intern->categories.iids[entry->shown.category] = 0;
	}
	intern->entries_used = intern->names.last = intern->categories.last = 0;
}
