// SPDX-License-Identifier: MIT
// Tracks for stacks that are not a thread's own: children of the track of the thread that was first seen to
// run there. Called by strands.c and lane.c. Flusher context. The rule: what is put on a fiber lies behind
// all that lies on it already, or inside of the last that does.
#ifndef PFT_FIBERS_H
#define PFT_FIBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/trace.h"

struct pft_fibers;

struct pft_fiber {
	struct pft_track *track;
	uint64_t free_ns; // while it is idle: nothing lies on it from here on
	bool taken;
	uint32_t kept; // reasons to keep the track of an idle fiber
	uint64_t low, high; // range of the slots seen, since it was taken for another stack
	struct pft_fibers *thread; // NULL: that thread has ended
	struct pft_fiber *next; // of the thread's, or in the pool
	struct pft_fiber *next_idle;
};

// The fibers of one thread. A zeroed one, but for the track, is empty.
struct pft_fibers {
	struct pft_track *track; // of the thread
	struct pft_fiber *first, *idle;
	uint32_t count;
};

// Fibers whose tracks are retired.
struct pft_fiber_pool {
	struct pft_arena *arena;
	struct pft_fiber *free;
};

// A fiber of the thread that is idle from `ns` on, preferably one that was used in the neighbourhood of
// `slot`. NULL when out of memory.
struct pft_fiber *pft_fibers_take(
	struct pft_fibers *fibers, struct pft_fiber_pool *pool, uint64_t slot, uint64_t ns);

// For `recover`: a fiber with that track, of a thread that is over. NULL when out of memory.
struct pft_fiber *pft_fiber_again(struct pft_fiber_pool *pool, struct pft_track *track);

// The stack has no open call any more: the fiber is idle from `ns` on.
void pft_fiber_put(struct pft_fiber_pool *pool, struct pft_fiber *fiber, uint64_t ns);

// Something may yet be put inside of what lies on it: the track stays also when its thread ends.
void pft_fiber_keep(struct pft_fiber *fiber);
void pft_fiber_let_go(struct pft_fiber_pool *pool, struct pft_fiber *fiber);

// The slot was seen on the fiber's stack.
void pft_fiber_saw(struct pft_fiber *fiber, uint64_t slot);

// The thread has ended. Fibers in use stay until they are idle.
void pft_fibers_retire(struct pft_fibers *fibers, struct pft_fiber_pool *pool);

#endif
