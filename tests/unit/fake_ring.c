// SPDX-License-Identifier: MIT
// Writes records as a thread would: see fake_ring.h. Called by unit tests.
#include "tests/unit/fake_ring.h"

struct pft_fake_ring pft_fake_ring(
	struct pft_session *session, uint32_t index, uint32_t tid, const char *name, uint32_t begin_at)
{
	struct pft_session_thread *thread = pft_fake_thread(session, index, tid, name);

	thread->begin_at = begin_at;
	return (struct pft_fake_ring){.session = session, .thread = thread, .index = index, .head = begin_at};
}

static void put(struct pft_fake_ring *ring, uint64_t ticks, uint32_t what)
{
	struct pft_record *record = pft_session_record(ring->session, ring->index, ring->head);

	*record = (struct pft_record){.ticks = ticks, .what = what, .at = ring->head};
	ring->head += sizeof *record;
}

static void put_second(struct pft_fake_ring *ring, uint64_t first, uint32_t second)
{
	put(ring, first, second);
	pft_session_record(ring->session, ring->index, ring->head - (uint32_t)sizeof(struct pft_record))
		->at |= PFT_SECOND;
}

static void put_event(struct pft_fake_ring *ring, uint64_t ns, uint32_t what)
{
	put(ring, ring->session->start_ticks + ns, what);
}

void pft_fake_begin(struct pft_fake_ring *ring, uint64_t ns, uint32_t id)
{
	put_event(ring, ns, PFT_BEGIN | id);
}

void pft_fake_end(struct pft_fake_ring *ring, uint64_t ns)
{
	put_event(ring, ns, PFT_END);
}

void pft_fake_unwound(struct pft_fake_ring *ring, uint64_t ns)
{
	put_event(ring, ns, PFT_UNWOUND);
}

void pft_fake_gap(struct pft_fake_ring *ring, uint64_t ns, uint64_t dropped, uint32_t depth)
{
	put_event(ring, ns, PFT_GAP);
	put_second(ring, dropped, depth);
	ring->thread->other_slots += 2;
	ring->thread->dropped += dropped;
}

void pft_fake_pause(struct pft_fake_ring *ring, uint64_t ns, uint32_t depth)
{
	put_event(ring, ns, PFT_PAUSE);
	put_second(ring, 0, depth);
	ring->thread->other_slots += 2;
}

void pft_fake_foreign(struct pft_fake_ring *ring, uint64_t ns, uint32_t what, uint64_t slot, uint32_t turn)
{
	put_event(ring, ns, what | PFT_FOREIGN);
	put_second(ring, slot | (uint64_t)turn << PFT_TURN_SHIFT, 0);
	ring->thread->other_slots++;
}

void pft_fake_foreign_begin(struct pft_fake_ring *ring, uint64_t ns, uint32_t id, uint64_t slot)
{
	pft_fake_foreign(ring, ns, PFT_BEGIN | id, slot, 1);
}

void pft_fake_foreign_end(struct pft_fake_ring *ring, uint64_t ns, uint64_t slot)
{
	pft_fake_foreign(ring, ns, PFT_END, slot, 1);
}

void pft_fake_foreign_unwound(struct pft_fake_ring *ring, uint64_t ns, uint64_t slot)
{
	pft_fake_foreign(ring, ns, PFT_UNWOUND, slot, 1);
}

void pft_fake_came_from(struct pft_fake_ring *ring, uint32_t frame)
{
	uint32_t last = ring->head - (uint32_t)sizeof(struct pft_record);
	struct pft_record *record = pft_session_record(ring->session, ring->index, last);
	struct pft_record *before = pft_session_record(ring->session, ring->index, last - sizeof *record);

	if (last != ring->thread->begin_at && before->what & PFT_FOREIGN) {
		before->what |= PFT_STACK;
		record->what = frame;
		return;
	}
	record->what |= PFT_STACK;
	put_second(ring, 0, frame);
	ring->thread->other_slots++;
}

void pft_fake_exit(struct pft_fake_ring *ring, uint64_t ns)
{
	ring->thread->end_ticks = ring->session->start_ticks + ns;
	ring->thread->state = PFT_THREAD_ENDED;
}
