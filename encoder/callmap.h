// SPDX-License-Identifier: MIT
// The open calls on stacks that are not a thread's own, of the whole process, found by the address of their
// return-address slot. Called by strands.c. Flusher context. The rule: a slot has one open call at most.
#ifndef PFT_CALLMAP_H
#define PFT_CALLMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/watch.h"

struct pft_strand;

struct pft_foreign_call {
	uint64_t slot;
	uint64_t ns; // its begin
	uint32_t turn; // tells the calls at one slot apart
	uint32_t stack; // where it came from; 0: not known
	uint16_t id;
	bool written; // its begin is in the trace
	bool deep; // it is only counted: too deep
	bool closed; // its slice has ended before it did
	struct pft_watched_call watched;
	struct pft_strand *strand;
	struct pft_foreign_call *outer; // the call that it is nested in, of the same strand
	struct pft_foreign_call *next; // in its chain of the map, or in the pool
};

#define PFT_CALLMAP_CHAINS 16384

struct pft_callmap {
	struct pft_foreign_call *chains[PFT_CALLMAP_CHAINS];
	struct pft_foreign_call *pool; // of calls that have ended
	struct pft_arena *arena;
	uint32_t count;
};

// A call for `slot`, where none is open; all but the slot is zero. NULL when out of memory.
struct pft_foreign_call *pft_callmap_add(struct pft_callmap *map, uint64_t slot);

// The call is over: its memory is used again.
void pft_callmap_remove(struct pft_callmap *map, struct pft_foreign_call *call);

// The open call at `slot`, or NULL.
struct pft_foreign_call *pft_callmap_find(const struct pft_callmap *map, uint64_t slot);

// The nearest open call above `slot` and at most `reach` bytes away that `fits`, or NULL.
struct pft_foreign_call *pft_callmap_above(const struct pft_callmap *map, uint64_t slot, uint64_t reach,
	bool (*fits)(const struct pft_foreign_call *, uint64_t), uint64_t argument);

#endif
