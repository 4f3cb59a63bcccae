// SPDX-License-Identifier: MIT
// Calls on stacks that are not the thread's own: coroutines, alternate signal stacks. Called by lane.c, in
// order of time (order.h), and by commit.c. Flusher context. An end closes the very call that began at its
// slot at its turn, whichever thread records it.
//
// Nobody tells us where such a stack begins or ends; all that is known is the address of each call's slot. A
// strand is a stack as we guess it: a chain of open calls whose slots go down, as stacks do, on a track of
// its own (fibers.h). The guess may be wrong: two small stacks may lie so close that they look like one. So
// only the outermost call of a strand, which cannot collide with another, is written when it begins. An inner
// one is written when it ends, with both its times, for until then the guess may be found wrong: when a call
// ends, or another begins below it, while inner calls are open, these are either left for good (longjmp,
// throw, a stack that was thrown away) or live on another stack. They become a strand of their own, in doubt.
// Should one of them end, they were alive, and get a track of their own. Should its slot be used anew, or
// should the trace end before, it was left: it is drawn inside of its caller up to where the doubt arose, and
// marked.
#ifndef PFT_STRANDS_H
#define PFT_STRANDS_H

#include <stdint.h>

#include "encoder/calls.h"
#include "encoder/callmap.h"
#include "encoder/fibers.h"
#include "encoder/tally.h"

struct pft_strand;

// Those of a process. All but the filters and the arenas is zero at first.
struct pft_strands {
	const struct pft_filters *filters;
	struct pft_arena *arena;
	struct pft_tally tally; // written, filtered and dropped events of all threads
	struct pft_callmap map;
	struct pft_fiber_pool fibers;
	struct pft_strand *first;
	struct pft_strand *pool;
	unsigned stale; // bit i: commit record i lacks news of the open calls
};

// What a foreign record says of a call. Slot and turn say which one it is.
struct pft_strand_call {
	uint64_t ns;
	uint64_t slot;
	uint32_t turn;
	uint32_t id; // of a begin
	uint32_t stack; // as for pft_calls_begin
	const struct pft_watched *watched; // the thread that recorded it
};

// A begin at a slot that is open already says that the old call was left. Where there is no memory, an event
// counts as dropped. `thread`: of the thread that recorded the event, for a new track.
void pft_strands_begin(
	struct pft_strands *strands, struct pft_fibers *thread, const struct pft_strand_call *begun);

// An end that closes nothing, because its begin was not read, counts as dropped.
void pft_strands_end(
	struct pft_strands *strands, struct pft_fibers *thread, const struct pft_strand_call *ended);
void pft_strands_end_unwound(
	struct pft_strands *strands, struct pft_fibers *thread, const struct pft_strand_call *ended);

// The open calls as a commit record lists them. Those of `room` entries that were filled.
uint32_t pft_strands_list(const struct pft_strands *strands, struct pft_open_foreign *list, uint32_t room);

// For `recover`, before the first event: goes on with the `count` calls of such a list.
void pft_strands_resume(struct pft_strands *strands, struct pft_trace *trace,
	const struct pft_open_foreign *list, uint32_t count);

// Writes outermost begins that the filter held back and that are old enough at `ns`.
void pft_strands_ripen(struct pft_strands *strands, uint64_t ns);

// How many begins are held back.
uint64_t pft_strands_held(const struct pft_strands *strands);

// Writes what is held back and counts the rest: nothing may follow. What is open stays open.
void pft_strands_settle(struct pft_strands *strands, uint64_t ns);

// As pft_calls_continue, for all of them.
void pft_strands_continue(const struct pft_strands *strands);

// The window was closed at `ns`: no call is open any more, and no end will come.
void pft_strands_pause(struct pft_strands *strands, uint64_t ns);

#endif
