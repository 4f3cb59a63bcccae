// SPDX-License-Identifier: MIT
// The open calls of one stack, and the filters: which calls are told to the trace, and when. Called by lane.c
// (a thread's own stack) and strands.c (others). Flusher context. The rule: every event ends in exactly one
// of the totals, and what a track is told nests and comes in order of time.
//
// With a shortest duration a begin is held back until its call is known to be long enough. Who is written has
// its callers written first: they are older. So from the bottom up the stack holds
//
//   closed (a gap ended their slices) | written (their slices are open) | held back | too deep: only counted
#ifndef PFT_CALLS_H
#define PFT_CALLS_H

#include <stdint.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "encoder/watch.h"

struct pft_filters {
	uint64_t min_duration_ns; // 0: none
	uint32_t depth_max; // at most PFT_DEPTH_MAX
};

struct pft_calls {
	struct pft_track *track;
	const struct pft_filters *filters;
	struct pft_totals *totals; // written, filtered and dropped are counted here
	struct pft_watched watched;
	uint32_t depth; // open calls
	uint32_t written; // of them are written or closed
	uint32_t closed; // of them are closed
	struct pft_open open[PFT_DEPTH_MAX]; // id PFT_HOOK_NONE: closed, by a gap or with the window
};

// `depth` calls are open from before, as a commit record lists them (commit.h); the track is new.
void pft_calls_resume(struct pft_calls *calls, const struct pft_open *open, uint32_t depth);

// The trace goes on in another file: the slices that are open are begun there as well.
void pft_calls_continue(const struct pft_calls *calls);

// `stack`: where it came from, a frame of the session's; 0: not known. An end may know it when the begin did
// not.
void pft_calls_begin(struct pft_calls *calls, uint64_t ns, uint32_t id, uint32_t stack);

// The innermost call ended. One that closes no slice counts as dropped.
void pft_calls_end(struct pft_calls *calls, uint64_t ns, uint32_t stack);
void pft_calls_end_unwound(struct pft_calls *calls, uint64_t ns);

// Ends all calls: no record of their ends will come.
void pft_calls_abandon(struct pft_calls *calls, uint64_t ns);

// Writes the begins that were held back and are old enough at `ns`.
void pft_calls_ripen(struct pft_calls *calls, uint64_t ns);

// How many begins are held back.
uint32_t pft_calls_held(const struct pft_calls *calls);

// As ripen; what is too young counts as filtered. Nothing but a gap may follow.
void pft_calls_settle(struct pft_calls *calls, uint64_t ns);

// Events were lost: no slice is open after it, and `depth` ends will come that close none.
void pft_calls_gap(struct pft_calls *calls, uint64_t ns, uint64_t dropped, uint32_t depth);

// The window was closed at `ns`: what is open there has its slice ended, and `depth` ends may still come that
// close none and count as filtered.
void pft_calls_pause(struct pft_calls *calls, uint64_t ns, uint32_t depth);

#endif
