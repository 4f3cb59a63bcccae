// SPDX-License-Identifier: MIT
// Calls on stacks that are not the thread's own: coroutines, alternate signal stacks. Called by lane.c.
// Flusher context. Nobody tells us where such a stack begins or ends; all that is known is the address of
// each call's return-address slot. A strand is a stack as we guess it: a chain of open calls whose slots go
// down, as stacks do, with a child track of its own. The rule: an end closes the very call that began at its
// slot.
#ifndef PFT_STRANDS_H
#define PFT_STRANDS_H

#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/calls.h"

struct pft_strand;

// The strands of one thread.
struct pft_strands {
	struct pft_strand *first; // the one used last
	uint32_t count;
};

// What strands are made of. Those of threads that have ended are used again.
struct pft_strand_pool {
	struct pft_arena *arena;
	const struct pft_filters *filters;
	struct pft_strand *free;
};

// The thread that the strands belong to.
struct pft_strand_owner {
	struct pft_track *track;
	struct pft_totals *totals;
};

// What a foreign record says of a call.
struct pft_strand_call {
	uint64_t ns;
	uint64_t slot;
	uint32_t id; // of a begin
	uint32_t stack; // as for pft_calls_begin
};

// A begin at a slot that is open already says that the old call was abandoned, and all that it called. An
// event for which there is no strand, and no memory for one, counts as dropped.
void pft_strands_begin(struct pft_strands *strands, struct pft_strand_pool *pool,
	const struct pft_strand_owner *owner, const struct pft_strand_call *call);

// Calls below the slot (which began later) were abandoned. An end that closes nothing counts as dropped.
void pft_strands_end(
	struct pft_strands *strands, struct pft_totals *totals, const struct pft_strand_call *call);
void pft_strands_end_unwound(
	struct pft_strands *strands, struct pft_totals *totals, const struct pft_strand_call *call);

// For pft_calls_ripen, _settle of every strand.
void pft_strands_ripen(struct pft_strands *strands, uint64_t ns);
void pft_strands_settle(struct pft_strands *strands, uint64_t ns);

// Records of the thread were lost: no call is known to be open any more.
void pft_strands_gap(struct pft_strands *strands, uint64_t ns);

// The thread has ended, and with it all open calls. Retires the tracks and gives the strands to the pool.
void pft_strands_retire(struct pft_strands *strands, struct pft_strand_pool *pool, uint64_t ns);

#endif
