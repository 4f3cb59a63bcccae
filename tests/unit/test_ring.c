// SPDX-License-Identifier: MIT
// The ring: what is written is found, room is kept, and what is not recorded is counted.
#include "shim/hot/ring.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/fake_session.h"

#define RING_BYTES 16384
#define SLOT ((uint32_t)sizeof(struct pft_record))
#define STACK_BYTES (1u << 20)
#define NO_CALL (STACK_BYTES | 1)

static struct pft_self *self;

static void start(uint32_t overflow, uint32_t position)
{
	pft_session = pft_fake_session(RING_BYTES, 2);
	pft_session->overflow = overflow;
	pft_process.recording = PFT_RECORDING_ON;
	self = aligned_alloc(PFT_PAGE, PFT_PAGE);
	memset(self, 0, PFT_PAGE);
	self->low = 0x10000000;
	self->frames = calloc(2, STACK_BYTES + 64);
	self->ring = (char *)pft_session_record(pft_session, 0, 0);
	self->ring_mask = RING_BYTES - 1;
	self->bottom = NO_CALL;
	self->entry = pft_fake_thread(pft_session, 0, 4711, "ring");
	pft_ring_start(self, position, NO_CALL);
}

static void stop(void)
{
	free(self->frames);
	free(self);
	pft_fake_free(pft_session);
}

static uint32_t position(void)
{
	return pft_head_position(self->head);
}

// As the trampoline records a begin: the floor sinks by one 16-byte slot, the frame names the floor before.
static bool begin(void)
{
	uint32_t floor = pft_head_floor(self->head);
	uint32_t offset = (floor & ~15u) - 8;
	struct pft_frame *frame = (struct pft_frame *)(self->frames + 2 * (uint64_t)offset);

	if ((int32_t)(position() - self->begin_limit) >= 0 && !pft_ring_admits_begin(self)) {
		pft_ring_drop(self, 2);
		return false;
	}
	frame->outer = floor;
	pft_ring_write(self, position(), 1, 100 | PFT_BEGIN);
	return pft_ring_commit(self, self->head, position() + SLOT, offset - 8);
}

static bool end(void)
{
	struct pft_frame *frame =
		(struct pft_frame *)(self->frames + 2 * ((uint64_t)pft_head_floor(self->head) + 8));

	if ((int32_t)(position() - self->end_limit) >= 0 && !pft_ring_admits_end(self))
		return false;
	pft_ring_write(self, position(), 2, 100 | PFT_END);
	return pft_ring_commit(self, self->head, position() + SLOT, frame->outer);
}

static struct pft_record *record(uint32_t at)
{
	return pft_session_record(pft_session, 0, at);
}

Test(ring, keeps_what_is_written_at_its_position)
{
	start(1, 32);
	cr_assert(begin());
	cr_assert_eq(record(32)->ticks, 1);
	cr_assert_eq(record(32)->what, 100 | PFT_BEGIN);
	cr_assert_eq(record(32)->at, 32);
	cr_assert_eq(position(), 48);
	stop();
}

Test(ring, does_not_commit_over_a_handlers_record)
{
	uint64_t old;

	start(1, 0);
	cr_assert(begin());
	old = self->head;
	pft_ring_write(self, position(), 7, 101);
	cr_assert(begin(), "the handler records at the same position");
	cr_assert_not(pft_ring_commit(self, old, pft_head_position(old) + SLOT, pft_head_floor(old)));
	cr_assert_eq(record(16)->what, 100 | PFT_BEGIN);
	stop();
}

Test(ring, goes_on_behind_the_last_position_of_32_bits)
{
	unsigned i;

	start(1, UINT32_MAX - 2 * SLOT + 1);
	for (i = 0; i < 4; i++)
		cr_assert(begin());
	cr_assert_eq(position(), 2 * SLOT);
	cr_assert_eq(record(SLOT)->at, SLOT);
	stop();
}

Test(ring, keeps_room_for_the_end_of_every_begin_that_it_took)
{
	unsigned open = 0, i;

	start(1, 0);
	for (i = 0; i < 4 * RING_BYTES / SLOT; i++)
		open += begin();
	cr_assert_geq(open, RING_BYTES / SLOT / 2 - 16, "about half of the ring takes begins");
	for (i = 0; i < open; i++)
		cr_assert(end(), "end %u of %u has no room", i, open);
	cr_assert_eq(pft_head_floor(self->head), NO_CALL);
	stop();
}

Test(ring, never_writes_over_what_the_flusher_has_not_taken)
{
	unsigned i;

	start(1, 0);
	for (i = 0; i < 10000; i++)
		if (begin())
			end();
	cr_assert_leq(position(), RING_BYTES);
	cr_assert_eq(record(0)->at, 0);
	stop();
}

Test(ring, counts_exactly_what_it_drops)
{
	unsigned taken = 0, i;

	start(1, 0);
	for (i = 0; i < 10000; i++)
		if (begin()) {
			taken++;
			cr_assert(end());
		}
	cr_assert_eq(self->entry->dropped, 2 * (10000 - taken));
	stop();
}

Test(ring, counts_nothing_after_the_end_of_recording)
{
	start(1, 0);
	pft_process.recording = PFT_RECORDING_STOPPED;
	pft_ring_drop(self, 2);
	cr_assert_eq(self->entry->dropped, 0);
	stop();
}

Test(ring, says_the_gap_before_the_next_event)
{
	const struct pft_gap *gap;
	uint32_t at;

	start(1, 0);
	cr_assert(begin());
	while (begin())
		end();
	pft_ring_drop(self, 3);
	at = position();
	__atomic_store_n(&self->tail, at, __ATOMIC_RELEASE);
	cr_assert(begin());
	gap = (const struct pft_gap *)record(at + SLOT);
	cr_assert_eq(record(at)->what, PFT_GAP);
	cr_assert_eq(gap->dropped, 2 + 3);
	cr_assert_eq(gap->depth, 1, "one call was open");
	cr_assert_eq(record(at + 2 * SLOT)->what, 100 | PFT_BEGIN);
	cr_assert_eq(self->entry->other_slots, 2);
	cr_assert_eq(self->dropped_unsaid, 0);
	stop();
}

// A slot is free at a time: there is room for a begin long before there is for the gap and what it comes
// before.
Test(ring, takes_no_begin_before_the_gap)
{
	uint32_t at;
	unsigned refused = 0;

	start(1, 0);
	while (begin())
		end();
	at = position();
	for (; !begin(); refused++)
		__atomic_store_n(&self->tail, self->tail + SLOT, __ATOMIC_RELEASE);
	cr_assert_gt(refused, 10);
	cr_assert_eq(record(at)->what, PFT_GAP);
	cr_assert_eq(((const struct pft_gap *)record(at + SLOT))->dropped, 2 * (refused + 1));
	cr_assert_eq(self->dropped_unsaid, 0);
	stop();
}

// With events dropped before each of them, and a gap to say.
Test(ring, keeps_the_room_of_ends_from_gaps)
{
	const unsigned open = 100;
	unsigned ended = 0;

	start(1, 0);
	for (unsigned i = 0; i < open; i++)
		cr_assert(begin());
	while (begin())
		end();
	for (unsigned i = 0; i < open; i++) {
		cr_assert_not(begin());
		self->end_limit = position(); // the flusher went to sleep
		ended += end();
	}
	cr_assert_eq(ended, open);
	__atomic_store_n(&self->tail, position(), __ATOMIC_RELEASE);
	cr_assert(begin());
	cr_assert_eq(record(position() - 3 * SLOT)->what, PFT_GAP, "it is said when there is room");
	cr_assert_eq(self->dropped_unsaid, 0);
	stop();
}

Test(ring, overwrites_the_oldest_without_ever_refusing)
{
	unsigned i;

	start(2, 0);
	for (i = 0; i < 10000; i++) {
		cr_assert(begin());
		cr_assert(end());
	}
	cr_assert_eq(position(), 20000 * SLOT);
	cr_assert_eq(self->entry->dropped, 0);
	stop();
}

// A slow flusher: takes what was recorded, looks at it, gives the room back.
static bool flusher_ends;
static uint32_t waits_begun, waits_ended;

static void *flush_slowly(void *nothing)
{
	uint32_t tail = 0, head = 0;

	while (!__atomic_load_n(&flusher_ends, __ATOMIC_ACQUIRE) || tail != head) {
		nanosleep(&(struct timespec){0, 200000}, NULL);
		head = pft_head_position(__atomic_load_n(&self->head, __ATOMIC_ACQUIRE));
		for (; tail != head; tail += SLOT) {
			cr_assert_eq(record(tail)->at, tail);
			waits_begun += record(tail)->what == (PFT_HOOK_WAIT | PFT_BEGIN);
			waits_ended += record(tail)->what == (PFT_HOOK_WAIT | PFT_END);
		}
		__atomic_store_n(&self->tail, tail, __ATOMIC_SEQ_CST);
	}
	return nothing;
}

Test(ring, waits_for_the_flusher_when_full, .timeout = 120)
{
	const unsigned calls = 20000;
	pthread_t flusher;
	unsigned i;

	start(0, 0);
	pthread_create(&flusher, NULL, flush_slowly, NULL);
	for (i = 0; i < calls; i++) {
		cr_assert(begin());
		cr_assert(end());
	}
	__atomic_store_n(&flusher_ends, true, __ATOMIC_RELEASE);
	pthread_join(flusher, NULL);
	cr_assert_eq(self->entry->dropped, 0);
	cr_assert_gt(waits_begun, 0, "each wait is a slice of its own");
	cr_assert_eq(waits_begun, waits_ended);
	cr_assert_eq(position(), 2 * SLOT * (calls + waits_begun));
	stop();
}

Test(ring, gives_up_waiting_after_its_bound, .timeout = 30)
{
	struct timespec before, after;
	unsigned i;

	start(0, 0);
	clock_gettime(CLOCK_MONOTONIC, &before);
	for (i = 0; i < RING_BYTES / SLOT; i++)
		if (begin())
			end();
	clock_gettime(CLOCK_MONOTONIC, &after);
	cr_assert_gt(self->entry->dropped, 0);
	cr_assert_leq(after.tv_sec - before.tv_sec, 10, "it waits once, not for every event");
	stop();
}

static void fill(void)
{
	for (unsigned i = 0; i < RING_BYTES / SLOT; i++)
		if (begin())
			end();
}

// Who waits in vain says so in `gave_up`.
Test(ring, does_not_wait_where_nobody_will_give_room, .timeout = 30)
{
	start(0, 0);
	pft_ring_expect_none();
	fill();
	cr_assert_gt(self->entry->dropped, 0);
	cr_assert_not(self->gave_up);
	cr_assert_not(pft_ring_waited_in_vain());
	pft_ring_expect_room();
	fill();
	cr_assert(self->gave_up, "now it may come");
	stop();
}

Test(ring, does_not_wait_where_another_has_waited_in_vain, .timeout = 30)
{
	start(0, 0);
	fill();
	cr_assert(self->gave_up);
	cr_assert(pft_ring_waited_in_vain());
	start(0, 0);
	fill();
	cr_assert_gt(self->entry->dropped, 0);
	cr_assert_not(self->gave_up);
	stop();
}
