// SPDX-License-Identifier: MIT
// Where calls came from, as a packet sequence defines it: callstacks of frames, frames of functions in
// mappings. Called by sequence.c. Flusher context. The rule: what a packet refers to was defined before, in
// the same sequence. Memory and packets grow with the number of different stacks, never with the number of
// calls.
#ifndef PFT_CALLSTACKS_H
#define PFT_CALLSTACKS_H

#include <stdint.h>

#include "encoder/packet.h"
#include "encoder/strings.h"
#include "encoder/table.h"

struct pft_session;
struct pft_functions;

// Deeper stacks lose their outer end.
#define PFT_CALLSTACK_FRAMES 512

// What the sequences of one trace share. Zeroed but for the first three, it knows nothing yet.
struct pft_stacks {
	struct pft_session *session;
	struct pft_strings *strings; // names of functions among them
	struct pft_arena *memory, *scratch;
	struct pft_table names; // code of a frame -> string of its function
	struct pft_functions **functions; // by mapping
	uint32_t functions_room;
};

// The iids that one sequence has given: zeroed, none.
struct pft_callstacks {
	struct pft_table stacks; // by innermost frame
	struct pft_table frames; // by code
	struct pft_table functions; // by string
	struct pft_table mappings;
};

// The iid of the stack whose innermost frame is `stack`, defined on `sequence` if need be. 0 when there is no
// memory, or no frame of it makes sense.
uint32_t pft_callstacks_define(struct pft_callstacks *callstacks, struct pft_stacks *stacks,
	const struct pft_packets *packets, uint32_t sequence, uint32_t stack);

void pft_callstacks_clear(struct pft_callstacks *callstacks);

#endif
