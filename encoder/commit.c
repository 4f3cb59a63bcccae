// SPDX-License-Identifier: MIT
// The commit records: see commit.h. Flusher context. The rule: an entry is copied in two commits running
// after each change, as each of the two records must learn of it.
#include "encoder/commit.h"

#include <stddef.h>
#include <string.h>

static void fill_calls(struct pft_commit_thread *entry, const struct pft_calls *calls)
{
	uint32_t count = calls->depth;

	if (count > calls->filters->depth_max)
		count = calls->filters->depth_max;
	entry->depth = calls->depth;
	memcpy(entry->open, calls->open, count * sizeof entry->open[0]);
	memset(entry->open + count, 0, (PFT_DEPTH_MAX - count) * sizeof entry->open[0]);
}

static void fill_totals(struct pft_commit_thread *entry, struct pft_totals totals)
{
	entry->produced = totals.produced;
	entry->written = totals.written;
	entry->filtered = totals.filtered;
	entry->dropped = totals.dropped;
}

static void fill(struct pft_commit_thread *entry, const struct pft_lane *lane)
{
	entry->serial = lane->serial;
	entry->other_slots = lane->other_slots;
	entry->lost_slots = lane->lost_slots;
	entry->told = lane->told;
	entry->untold = lane->untold;
	entry->last_ns = lane->last_ns;
	entry->tail = lane->tail;
	if (lane->live) {
		fill_totals(entry, pft_lane_totals(lane));
		fill_calls(entry, &lane->calls);
	} else {
		fill_totals(entry, (struct pft_totals){0});
		entry->depth = PFT_COMMIT_ENDED;
	}
}

void pft_commit_write(struct pft_session *session, const struct pft_commit *head, struct pft_lane *stale,
	struct pft_strands *strands)
{
	uint64_t generation = session->generation + 1;
	struct pft_commit *record = pft_session_commit(session, generation);
	unsigned bit = 1u << (generation & 1);

	uint32_t foreign = record->foreign;

	*record = *head;
	record->foreign = foreign;
	if ((strands->stale & bit) != 0)
		record->foreign =
			pft_strands_list(strands, pft_commit_foreign(session, record), session->foreign_max);
	strands->stale &= ~bit;
	for (struct pft_lane *lane = stale; lane != NULL; lane = lane->next_stale) {
		if ((lane->stale & bit) == 0)
			continue;
		fill(pft_commit_thread(record, lane->index), lane);
		lane->stale &= ~bit;
	}
	// Everything above is stored before, on x86 as everywhere: who reads the generation finds the record.
	__atomic_store_n(&session->generation, generation, __ATOMIC_RELEASE);
}
