// SPDX-License-Identifier: MIT
// The interned ids of one packet sequence: which names it has defined, and as what. Called by sequence.c and,
// for the look-up, for every event. Flusher context. An iid is never 0; hooks that are shown under the same
// name share one; after a clear nothing is defined.
#ifndef PFT_INTERN_H
#define PFT_INTERN_H

#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/names.h"

// 0: none.
struct pft_iids {
	uint32_t name, category;
};

// The iids of one kind, by the number of their string.
struct pft_intern_kind {
	uint32_t *iids;
	uint32_t room, last;
};

struct pft_intern {
	struct pft_iids *hooks; // by hook id
	uint32_t hooks_room;
	struct pft_intern_kind names, categories;
	struct pft_intern_entry *entries; // what to forget at a clear, which then costs no more than it held
	uint32_t entries_room, entries_used;
};

// What pft_intern_add made and the caller must define before its use.
#define PFT_INTERN_NEW_NAME 1
#define PFT_INTERN_NEW_CATEGORY 2

// The iids of hook `id`; {0, 0} when it has none yet.
static inline struct pft_iids pft_intern_find(const struct pft_intern *intern, uint32_t id)
{
	return id < intern->hooks_room ? intern->hooks[id] : (struct pft_iids){0, 0};
}

// Gives hook `id`, which has none, its iids. A set of the bits above, or -ENOMEM.
int pft_intern_add(struct pft_intern *intern, struct pft_arena *arena, uint32_t id, struct pft_shown shown);

void pft_intern_clear(struct pft_intern *intern);

#endif
