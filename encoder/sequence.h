// SPDX-License-Identifier: MIT
// Packet sequences: one a thread, with its own clock, default track and interned names. Called by trace.c.
// Flusher context. The rule: a sequence's state is started before anything relies on it, and its clock never
// goes back, also when the sequence is given to another thread.
#ifndef PFT_SEQUENCE_H
#define PFT_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/callstacks.h"
#include "encoder/intern.h"
#include "encoder/names.h"
#include "encoder/packet.h"
#include "encoder/trace.h"

// What the sequences of one trace share.
struct pft_sequences {
	struct pft_packets packets;
	struct pft_names names;
	struct pft_stacks stacks;
	struct pft_arena *memory;
	struct pft_clocks clocks; // the latest reading
	uint64_t salt;
	uint32_t last; // highest id in use
	struct pft_sequence *all;
	struct pft_sequence *released;
};

struct pft_sequence {
	struct pft_sequences *shared;
	uint64_t track_uuid; // default of its events
	uint64_t last_ns; // of its clock; kept when the sequence changes hands
	uint32_t id;
	uint32_t tracks; // that write on it: the thread's and its fibers'
	bool opened; // has ever started
	bool started;
	unsigned annotated; // names of annotations that it has defined: bits of PFT_ANNOTATION_
	struct pft_intern intern;
	struct pft_callstacks callstacks;
	struct pft_sequence *next; // released
	struct pft_sequence *older; // of all
};

// A sequence for the events of a track: a released one, else the next id. NULL when out of memory.
struct pft_sequence *pft_sequence_take(struct pft_sequences *shared, uint64_t track_uuid);

// One of its tracks is done; after the last it is given to the next thread.
void pft_sequence_release(struct pft_sequence *sequence);

// Clears and starts the state, with the clock at `ns`. `dropped`: events lost before, 0 for none.
void pft_sequence_start(struct pft_sequence *sequence, uint64_t ns, uint64_t dropped);

// The next file begins: no sequence has state in it. Their clocks do not go back all the same, so that the
// files can be read as one.
void pft_sequences_turn(struct pft_sequences *shared);

// Gives hook `id` iids and writes their definitions. {0, 0} when out of memory: the slice has no name then.
struct pft_iids pft_sequence_define(struct pft_sequence *sequence, uint32_t id);

// The iid of the callstack whose innermost frame is `stack`, defined if need be. 0 when out of memory: the
// slice does not say then where it came from.
uint32_t pft_sequence_callstack(struct pft_sequence *sequence, uint32_t stack);

// An event at `ns` on the track (0: the default one). What lies before the sequence's clock, as fibers of one
// thread may bring about, gets an absolute time.
static inline struct pft_event pft_sequence_event(
	struct pft_sequence *sequence, uint64_t ns, uint64_t track_uuid)
{
	struct pft_event event = {.ns = ns, .track_uuid = track_uuid, .sequence = sequence->id};

	if (__builtin_expect(!sequence->started, 0))
		pft_sequence_start(sequence, ns, 0);
	event.absolute = ns < sequence->last_ns;
	if (!event.absolute) {
		event.ns = ns - sequence->last_ns;
		sequence->last_ns = ns;
	}
	return event;
}

#endif
