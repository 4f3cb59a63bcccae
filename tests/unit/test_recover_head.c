// SPDX-License-Identifier: MIT
// Unit tests of encoder/recover/head.c: where a ring ends whose writer was killed. Run by Criterion.
#include "encoder/recover/head.h"

#include <criterion/criterion.h>

#include "tests/unit/fake_ring.h"

#define RING_BYTES 1024
#define SLOT ((uint32_t)sizeof(struct pft_record))

static struct pft_session *session;
static struct pft_fake_ring ring;
static uint32_t hook;

static void set_up(void)
{
	session = pft_fake_session(RING_BYTES, 2);
	hook = pft_fake_hook(session, NULL, "f");
	ring = pft_fake_ring(session, 1, 100, "", 64);
}

TestSuite(recover_head, .init = set_up);

static void record(unsigned events)
{
	for (unsigned i = 0; i < events; i++) {
		if (i % 2 == 0)
			pft_fake_begin(&ring, i, hook);
		else
			pft_fake_end(&ring, i);
	}
}

static struct pft_record *at(uint32_t position)
{
	return pft_session_record(session, 1, position);
}

static void commit_up_to(uint32_t tail)
{
	struct pft_commit_thread *kept = pft_commit_thread(pft_session_commit(session, 1), 1);

	session->generation = 1;
	kept->serial = ring.thread->serial;
	kept->tail = tail;
}

static void assert_ends_at(uint32_t head)
{
	cr_assert_eq(pft_head_find(session, 1), head, "%u instead of %u", pft_head_find(session, 1), head);
}

Test(recover_head, is_where_the_thread_began_when_it_recorded_nothing)
{
	assert_ends_at(64);
}

Test(recover_head, is_behind_the_last_record)
{
	record(7);
	assert_ends_at(64 + 7 * SLOT);
}

Test(recover_head, is_where_the_last_commit_left_it_when_nothing_came_after)
{
	record(7);
	commit_up_to(ring.head);
	assert_ends_at(ring.head);
}

Test(recover_head, ignores_the_commit_of_an_earlier_thread)
{
	record(3);
	commit_up_to(ring.head);
	ring = pft_fake_ring(session, 1, 101, "", ring.head);
	record(2);
	assert_ends_at(64 + 5 * SLOT);
}

Test(recover_head, finds_a_full_lap_behind_the_tail)
{
	record(20);
	commit_up_to(ring.head);
	record(RING_BYTES / SLOT);
	assert_ends_at(ring.head);
}

Test(recover_head, is_found_where_positions_wrap)
{
	ring = pft_fake_ring(session, 1, 100, "", 0u - 4 * SLOT);
	record(10);
	assert_ends_at(6 * SLOT);
}

Test(recover_head, leaves_out_a_record_that_was_being_stored)
{
	record(3);
	at(ring.head)->ticks = 77;
	at(ring.head)->what = PFT_END;
	assert_ends_at(ring.head);
}

Test(recover_head, leaves_out_a_record_whose_second_slot_was_not_stored)
{
	uint32_t whole;

	record(3);
	whole = ring.head;
	pft_fake_foreign_begin(&ring, 9, hook, 0x1000);
	at(whole + SLOT)->at = 0;
	assert_ends_at(whole);
}

Test(recover_head, is_not_stopped_by_a_slot_that_was_scribbled_on)
{
	record(9);
	at(64 + 3 * SLOT)->at = 12345;
	at(64 + 5 * SLOT)->what = 0xffffffff;
	assert_ends_at(ring.head);
}

static void leave_hole(void)
{
	ring.head += PFT_HOLE_SLOTS * SLOT;
	at(ring.head)->what = PFT_HOLE;
	at(ring.head)->at = ring.head;
	ring.head += SLOT;
}

Test(recover_head, passes_a_hole_to_what_the_handler_recorded)
{
	record(3);
	leave_hole();
	record(2);
	assert_ends_at(64 + (6 + PFT_HOLE_SLOTS) * SLOT);
}

Test(recover_head, passes_a_hole_behind_which_the_handler_recorded_nothing)
{
	record(3);
	leave_hole();
	assert_ends_at(64 + (4 + PFT_HOLE_SLOTS) * SLOT);
}

Test(recover_head, takes_a_whole_record_in_a_place_that_was_claimed_for_two)
{
	record(3);
	pft_fake_end(&ring, 9);
	at(ring.head)->what = PFT_BEGIN | hook;
	assert_ends_at(64 + 4 * SLOT);
}

// ---- the oldest are overwritten ---------------------------------------------------------------------

Test(recover_head, of_a_ring_that_wrapped_is_behind_the_newest)
{
	session->overflow = PFT_OVERFLOW_OVERWRITE;
	record(1000);
	assert_ends_at(ring.head);
}

Test(recover_head, of_a_ring_that_has_not_wrapped_is_behind_the_newest)
{
	session->overflow = PFT_OVERFLOW_OVERWRITE;
	record(5);
	assert_ends_at(ring.head);
}

Test(recover_head, of_an_unused_ring_is_where_the_thread_began)
{
	session->overflow = PFT_OVERFLOW_OVERWRITE;
	assert_ends_at(64);
}

Test(recover_head, does_not_take_the_last_threads_records_for_this_ones)
{
	session->overflow = PFT_OVERFLOW_OVERWRITE;
	record(1000);
	ring = pft_fake_ring(session, 1, 101, "", ring.head);
	assert_ends_at(ring.head);
	record(3);
	assert_ends_at(ring.head);
}

Test(recover_head, of_a_ring_that_wrapped_leaves_out_what_was_being_stored)
{
	uint32_t whole;

	session->overflow = PFT_OVERFLOW_OVERWRITE;
	record(1000);
	whole = ring.head;
	pft_fake_foreign_begin(&ring, 9, hook, 0x1000);
	at(whole + SLOT)->at -= RING_BYTES;
	assert_ends_at(whole);
}

Test(recover_head, of_a_ring_whose_positions_wrapped_is_behind_the_newest)
{
	session->overflow = PFT_OVERFLOW_OVERWRITE;
	ring = pft_fake_ring(session, 1, 100, "", 0u - 2048);
	record(200);
	assert_ends_at(ring.head);
}
