// SPDX-License-Identifier: MIT
// Reads one record of a ring, with what belongs to it. Called by lane.c. Flusher context, or `recover`; pure.
// The rule: what is read is whole, or nothing is: a slot counts only if it says of itself that it was written
// for this position, and if it makes sense.
#ifndef PFT_RECORDS_H
#define PFT_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/session.h"

struct pft_recorded {
	uint64_t ticks;
	uint32_t kind; // PFT_BEGIN, PFT_END, PFT_UNWOUND, PFT_GAP, PFT_PAUSE, PFT_HOLE
	uint32_t id;
	bool foreign;
	uint64_t slot; // of a foreign event
	uint32_t turn; // likewise
	uint32_t stack; // where the call came from; 0: not known
	uint64_t dropped; // of a gap
	uint32_t depth; // of a gap or a pause
	uint32_t bytes; // that it takes in the ring
};

// The first position from `tail` on that a ring whose records end at `head` still holds.
uint32_t pft_record_oldest(const struct pft_session *session, uint32_t tail, uint32_t head);

// False when there is no such record at `position` of ring `index`, whose records end at `head`.
bool pft_record_read(struct pft_session *session, uint32_t index, uint32_t position, uint32_t head,
	struct pft_recorded *recorded);

#endif
