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

// Of what was told since the last keep up to `*lost` events are not, and the rest is. What is left of them is
// for the next tally: the file knows how many it lacks and not whose they were.
static inline void pft_tally_lose(struct pft_tally *tally, uint64_t *lost)
{
	uint64_t told = tally->events.written - tally->safe;
	uint64_t gone = told < *lost ? told : *lost;

	*lost -= gone;
	tally->events.dropped += gone;
	tally->events.written -= gone;
	pft_tally_keep(tally);
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
