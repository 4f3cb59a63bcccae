// SPDX-License-Identifier: MIT
// A lane: one thread of the session on its way from its ring into the trace. Called by replay.c. Flusher
// context. Lane i reads ring i for one thread after the other. The rule: each slot of the ring is read once
// and accounted for once, whatever stands in it.
#ifndef PFT_LANE_H
#define PFT_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/calls.h"
#include "encoder/session.h"
#include "encoder/strands.h"
#include "encoder/tally.h"
#include "encoder/trace.h"

// What all lanes of a replay share.
struct pft_lanes {
	struct pft_session *session;
	struct pft_trace *trace;
	struct pft_watch *watch; // NULL: no report is asked for
	struct pft_timeline line;
	struct pft_filters filters;
	struct pft_strands strands;
	struct pft_lane *stale; // those of which a commit record lacks news
	struct pft_lane *waiting; // in front of an event on a foreign stack: see order.h
};

struct pft_lane {
	struct pft_lanes *shared;
	uint32_t index;
	uint64_t serial; // of the thread; 0: none yet
	bool live; // it has begun and has not ended
	bool announced; // the trace knows of it

	uint32_t tail; // ring position up to which it is drained
	uint32_t head; // and up to which it may be
	uint32_t committed; // and up to which that is committed
	unsigned stale; // bit i: commit record i lacks news of this lane
	struct pft_lane *next_stale;

	bool waits; // in front of an event at `waits_at`
	uint64_t waits_at; // ticks
	struct pft_lane *next_waiting;

	uint64_t slots; // read so far
	uint64_t other_slots; // of them are no event
	uint64_t lost_slots; // of them were not whole
	uint64_t told; // events that the thread said it dropped
	uint64_t untold; // dropped events for which the trace has no gap yet
	uint64_t foreign; // events handed to the strands, which count what becomes of them
	struct pft_tally tally;

	struct pft_track *track; // NULL when there was no memory: every event is dropped
	uint32_t name_turn; // of the name that the track has
	uint64_t last_ns; // of what is drained
	uint64_t known_ns; // what is not drained up to the head is later than this
	struct pft_calls calls;
	struct pft_fibers fibers;
};

// Begins the thread that the entry holds, when it is new, and tells a changed name.
void pft_lane_follow(struct pft_lane *lane);

// For `recover`, before the first record is read: the lane goes on with its entry's thread from where a
// commit record left it. Its open slices are those that the trace file holds.
void pft_lane_resume(struct pft_lane *lane, const struct pft_commit_thread *kept);

// Encodes what lies between the tail and `head`, up to the first event on a foreign stack: there it waits.
void pft_lane_drain(struct pft_lane *lane, uint32_t head);

// Nothing is to be read before a later drain: what lies before `head` and is overwritten counts as lost by
// now, so that positions, which wrap, are never far behind. Whether anything was.
bool pft_lane_advance(struct pft_lane *lane, uint32_t head);

// Goes on with such events, and what lies between, up to the first that is later than `ticks`. Called by
// order.c.
void pft_lane_pass(struct pft_lane *lane, uint64_t ticks);

// Whether there is nothing left before the head.
bool pft_lane_is_drained(const struct pft_lane *lane);

// Writes begins that a filter held back and that are known to be old enough.
void pft_lane_ripen(struct pft_lane *lane);

// Writes all of them, however young.
void pft_lane_write_all(struct pft_lane *lane);

uint32_t pft_lane_tid(const struct pft_lane *lane);

// The trace goes on in another file: see pft_calls_continue.
void pft_lane_continue(const struct pft_lane *lane);

// An instant of ours where it is drained to.
void pft_lane_mark(struct pft_lane *lane, const char *name);

// The window was closed: slices that are open end where it was, and the calls' ends count as filtered.
void pft_lane_pause(struct pft_lane *lane);

// The thread has ended and is drained. Its tally is whole after this.
void pft_lane_end(struct pft_lane *lane);

// The last commit is about to come while the thread lives: says what may still be said. Its open calls stay
// open.
void pft_lane_close(struct pft_lane *lane);

// After the last commit, which must know begins that are held back as such: they are filtered for good, and
// the tally is whole.
void pft_lane_settle(struct pft_lane *lane);

// Counts of the thread so far. What becomes of events on foreign stacks is not among them.
struct pft_totals pft_lane_totals(const struct pft_lane *lane);

// Says them in the trace, for good or `so_far`. Begins that are held back count as filtered.
void pft_lane_account(struct pft_lane *lane, bool so_far);

#endif
