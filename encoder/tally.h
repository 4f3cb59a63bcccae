// SPDX-License-Identifier: MIT
// Counts of events, and how many of them are safe in the file. Called by lane.c and replay.c. Flusher
// context. The rule: what was told to the trace counts as written only if writing the file succeeded; else it
// moves to the dropped ones, so that the sum stays what was produced.
#ifndef PFT_TALLY_H
#define PFT_TALLY_H

#include <stdint.h>

#include "encoder/trace.h"

struct pft_tally {
	struct pft_totals events;
	uint64_t safe; // of events.written
};

// Everything told so far is in the file.
static inline void pft_tally_keep(struct pft_tally *tally)
{
	tally->safe = tally->events.written;
}

// What was told since the last keep is not.
static inline void pft_tally_lose(struct pft_tally *tally)
{
	tally->events.dropped += tally->events.written - tally->safe;
	tally->events.written = tally->safe;
}

static inline void pft_totals_add(struct pft_totals *sum, const struct pft_totals *part)
{
	sum->produced += part->produced;
	sum->written += part->written;
	sum->filtered += part->filtered;
	sum->dropped += part->dropped;
}

static inline void pft_tally_add(struct pft_tally *sum, const struct pft_tally *part)
{
	pft_totals_add(&sum->events, &part->events);
	sum->safe += part->safe;
}

#endif
