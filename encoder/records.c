// SPDX-License-Identifier: MIT
// Records, slot by slot: see records.h. Flusher context. The rule: a slot is copied once, and judged by the
// copy; the ring lies in memory that the program can write to, by intent or by mistake.
#include "encoder/records.h"

#include <stddef.h>

#define OVERWRITE 2 // of pft_session.overflow

#define SLOT ((uint32_t)sizeof(struct pft_record))

// Payloads are copied as records are: 64 bits, 32 bits, and the position last.
_Static_assert(offsetof(struct pft_gap, depth) == offsetof(struct pft_record, what),
	"a gap is laid out as a record");
_Static_assert(
	offsetof(struct pft_gap, at) == offsetof(struct pft_record, at), "a gap is laid out as a record");
_Static_assert(
	offsetof(struct pft_detail, stack) == offsetof(struct pft_record, what), "and a detail as well");
_Static_assert(offsetof(struct pft_detail, at) == offsetof(struct pft_record, at), "so is a detail");

static uint32_t at_of(struct pft_session *session, uint32_t index, uint32_t position)
{
	return __atomic_load_n(&pft_session_record(session, index, position)->at, __ATOMIC_ACQUIRE);
}

// While the oldest is overwritten, the writer may be anywhere. It writes slots in order, so this one was
// still untouched when it was copied if the one before does not belong to the next lap after that.
static bool overtaken(struct pft_session *session, uint32_t index, uint32_t position)
{
	return session->overflow == OVERWRITE && (at_of(session, index, position - SLOT) & ~PFT_SECOND) ==
							 position - SLOT + (uint32_t)session->ring_bytes;
}

// `second`: PFT_SECOND, or 0 for the first slot of a record.
static bool slot_copy(struct pft_session *session, uint32_t index, uint32_t position, uint32_t second,
	struct pft_record *copy)
{
	const struct pft_record *slot = pft_session_record(session, index, position);

	copy->at = __atomic_load_n(&slot->at, __ATOMIC_ACQUIRE);
	copy->ticks = __atomic_load_n(&slot->ticks, __ATOMIC_ACQUIRE);
	copy->what = __atomic_load_n(&slot->what, __ATOMIC_ACQUIRE);
	return copy->at == (position | second) && !overtaken(session, index, position);
}

static bool is_hook(struct pft_session *session, uint32_t id)
{
	return id != PFT_HOOK_NONE && id < __atomic_load_n(&session->hooks, __ATOMIC_ACQUIRE);
}

static bool is_sane(struct pft_session *session, const struct pft_recorded *recorded)
{
	switch (recorded->kind) {
	case PFT_BEGIN:
		return is_hook(session, recorded->id);
	case PFT_END:
	case PFT_UNWOUND:
		return true;
	case PFT_GAP:
	case PFT_PAUSE:
		return !recorded->foreign;
	default:
		return false;
	}
}

static bool tells_depth(const struct pft_recorded *recorded)
{
	return recorded->kind == PFT_GAP || recorded->kind == PFT_PAUSE;
}

static bool has_detail(const struct pft_record *record)
{
	return (record->what & (PFT_FOREIGN | PFT_STACK)) != 0;
}

// A frame that is not there is as good as none.
static uint32_t known_frame(struct pft_session *session, uint32_t number)
{
	uint32_t frames = __atomic_load_n(&session->frames, __ATOMIC_ACQUIRE);

	return number < frames && number < session->frames_max ? number : 0;
}

static void read_payload(
	struct pft_session *session, const struct pft_record *payload, struct pft_recorded *recorded)
{
	recorded->bytes += SLOT;
	if (tells_depth(recorded)) {
		recorded->dropped = payload->ticks;
		recorded->depth = payload->what;
	} else {
		recorded->slot = payload->ticks & PFT_SLOT_MASK;
		recorded->turn = (uint32_t)(payload->ticks >> PFT_TURN_SHIFT);
		recorded->stack = known_frame(session, payload->what);
	}
}

// What a hole holds may look like a record: only the marker behind it counts (session.h).
static bool is_hole(struct pft_session *session, uint32_t index, uint32_t position, uint32_t head)
{
	uint32_t marker = position + PFT_HOLE_SLOTS * SLOT;
	struct pft_record copy;

	return (int32_t)(head - marker) > 0 && slot_copy(session, index, marker, 0, &copy) &&
	       (copy.what & PFT_WHAT_KIND) == PFT_HOLE;
}

// The oldest are gone when the thread is more than a lap ahead; the slot at the head is not to be trusted
// either, for it may be being written.
uint32_t pft_record_oldest(const struct pft_session *session, uint32_t tail, uint32_t head)
{
	uint32_t room = (uint32_t)session->ring_bytes - SLOT;

	return session->overflow == OVERWRITE && head - tail > room ? head - room : tail;
}

bool pft_record_read(struct pft_session *session, uint32_t index, uint32_t position, uint32_t head,
	struct pft_recorded *recorded)
{
	struct pft_record record, payload;

	if (is_hole(session, index, position, head)) {
		*recorded = (struct pft_recorded){.kind = PFT_HOLE, .bytes = (PFT_HOLE_SLOTS + 1) * SLOT};
		return true;
	}
	if (!slot_copy(session, index, position, 0, &record))
		return false;
	*recorded = (struct pft_recorded){.ticks = record.ticks,
		.kind = record.what & PFT_WHAT_KIND,
		.id = record.what & PFT_WHAT_ID,
		.foreign = (record.what & PFT_FOREIGN) != 0,
		.bytes = SLOT};
	if (!is_sane(session, recorded))
		return false;
	if (!has_detail(&record) && !tells_depth(recorded))
		return true;
	if (position + SLOT == head || !slot_copy(session, index, position + SLOT, PFT_SECOND, &payload))
		return false;
	read_payload(session, &payload, recorded);
	return true;
}
