// SPDX-License-Identifier: MIT
// Scans a ring for its end: see head.h. The rule: a thread stores its slots in order of position, each slot's
// own position last, so the furthest slot that holds the position it lies at is where the thread had got to.
//
// The kill may have come between the two slots of a record, or before a hole got its marker: what cannot be
// read at the end was never committed, and is no loss. What cannot be read before it is.
#include "encoder/recover/head.h"

#include <stdbool.h>

#include "encoder/records.h"

#define SLOT ((uint32_t)sizeof(struct pft_record))

static uint32_t tail_of(struct pft_session *session, uint32_t index)
{
	const struct pft_session_thread *entry = pft_session_thread(session, index);
	const struct pft_commit_thread *kept =
		pft_commit_thread(pft_session_commit(session, session->generation), index);

	return kept->serial == entry->serial ? kept->tail : entry->begin_at;
}

static uint32_t position_of(const struct pft_record *slot)
{
	return slot->at & ~PFT_SECOND;
}

// No more than a lap lies behind the tail; what was written in an earlier lap says so.
static uint32_t furthest(struct pft_session *session, uint32_t index, uint32_t tail)
{
	uint32_t end = tail + (uint32_t)session->ring_bytes;

	while (end != tail && position_of(pft_session_record(session, index, end - SLOT)) != end - SLOT)
		end -= SLOT;
	return end;
}

// A slot that was never written says that it lies at 0.
static bool is_written(const struct pft_record *slot)
{
	return slot->at != 0 || slot->what != 0 || slot->ticks != 0;
}

// When the oldest is overwritten the tail may be any number of laps behind, but what the ring holds lies
// within one lap.
static uint32_t newest(struct pft_session *session, uint32_t index, uint32_t tail)
{
	uint32_t mask = (uint32_t)session->ring_bytes - 1;
	uint32_t end = tail;
	bool found = false;

	for (uint32_t offset = 0; offset <= mask; offset += SLOT) {
		const struct pft_record *slot = pft_session_record(session, index, offset);

		if ((position_of(slot) & mask) != offset || !is_written(slot))
			continue;
		if (!found || (int32_t)(position_of(slot) + SLOT - end) > 0)
			end = position_of(slot) + SLOT;
		found = true;
	}
	// What ends at the tail or less than a lap before it was there already: it is committed, or of the
	// thread that had the ring before.
	return tail - end <= mask ? tail : end;
}

static uint32_t behind_last_whole(
	struct pft_session *session, uint32_t index, uint32_t position, uint32_t end)
{
	struct pft_recorded recorded;
	uint32_t whole = position;

	while (position != end) {
		if (pft_record_read(session, index, position, end, &recorded)) {
			position += recorded.bytes;
			whole = position;
		} else {
			position += SLOT;
		}
	}
	return whole;
}

uint32_t pft_head_find(struct pft_session *session, uint32_t index)
{
	uint32_t tail = tail_of(session, index);
	bool overwrites = session->overflow == PFT_OVERFLOW_OVERWRITE;
	uint32_t end = overwrites ? newest(session, index, tail) : furthest(session, index, tail);

	return behind_last_whole(session, index, pft_record_oldest(session, tail, end), end);
}
