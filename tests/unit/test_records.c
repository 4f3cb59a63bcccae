// SPDX-License-Identifier: MIT
// Unit tests of encoder/records.c: which slots of a ring are taken for records. Run by Criterion.
#include "encoder/records.h"

#include <criterion/criterion.h>

#include "tests/unit/fake_ring.h"

#define RING_BYTES 1024
#define SLOT ((uint32_t)sizeof(struct pft_record))

static struct pft_session *session;
static struct pft_fake_ring ring;
static struct pft_recorded recorded;
static uint32_t hook;

static void set_up(void)
{
	session = pft_fake_session(RING_BYTES, 2);
	hook = pft_fake_hook(session, NULL, "f");
	ring = pft_fake_ring(session, 1, 100, "", 64);
}

TestSuite(records, .init = set_up);

static bool reads(uint32_t position)
{
	return pft_record_read(session, 1, position, ring.head, &recorded);
}

Test(records, reads_what_was_recorded)
{
	pft_fake_begin(&ring, 5, hook);
	cr_assert(reads(64));
	cr_assert_eq(recorded.kind, PFT_BEGIN);
	cr_assert_eq(recorded.id, hook);
	cr_assert_eq(recorded.ticks, session->start_ticks + 5);
	cr_assert_eq(recorded.bytes, SLOT);
	cr_assert_not(recorded.foreign);
}

Test(records, reads_the_slot_that_belongs_to_a_record)
{
	pft_fake_foreign(&ring, 5, PFT_END, 0x7fff1234, 9);
	pft_fake_gap(&ring, 6, 77, 3);
	cr_assert(reads(64));
	cr_assert(recorded.foreign);
	cr_assert_eq(recorded.kind, PFT_END);
	cr_assert_eq(recorded.slot, 0x7fff1234);
	cr_assert_eq(recorded.turn, 9);
	cr_assert_eq(recorded.bytes, 2 * SLOT);
	cr_assert(reads(64 + 2 * SLOT));
	cr_assert_eq(recorded.kind, PFT_GAP);
	cr_assert_eq(recorded.dropped, 77);
	cr_assert_eq(recorded.depth, 3);
}

static void know_stack(uint32_t position, uint32_t frame)
{
	pft_session_record(session, 1, position)->what |= PFT_STACK;
	pft_session_record(session, 1, position + SLOT)->what = frame;
}

Test(records, reads_where_a_call_came_from)
{
	uint32_t frame = pft_fake_frame(session, 1, 0x1000, 0);

	pft_fake_foreign_begin(&ring, 5, hook, 0x7fff1234);
	know_stack(64, frame);
	cr_assert(reads(64));
	cr_assert(recorded.foreign);
	cr_assert_eq(recorded.slot, 0x7fff1234);
	cr_assert_eq(recorded.stack, frame);
	pft_session_record(session, 1, 64)->what &= ~PFT_FOREIGN;
	cr_assert(reads(64));
	cr_assert_not(recorded.foreign);
	cr_assert_eq(recorded.stack, frame);
	cr_assert_eq(recorded.bytes, 2 * SLOT);
}

Test(records, knows_no_stack_that_is_not_in_the_session)
{
	pft_fake_foreign_begin(&ring, 5, hook, 0x7fff1234);
	know_stack(64, session->frames);
	cr_assert(reads(64), "the call is one all the same");
	cr_assert_eq(recorded.stack, 0);
	session->frames = UINT32_MAX;
	know_stack(64, session->frames_max);
	cr_assert(reads(64));
	cr_assert_eq(recorded.stack, 0);
}

Test(records, refuses_a_slot_of_another_lap)
{
	pft_fake_end(&ring, 5);
	pft_session_record(session, 1, 64)->at = 64 - RING_BYTES;
	cr_assert_not(reads(64));
}

Test(records, refuses_a_record_whose_second_slot_is_not_there)
{
	pft_fake_foreign_end(&ring, 5, 0x7fff1234);
	cr_assert_not(pft_record_read(session, 1, 64, 64 + SLOT, &recorded));
	pft_session_record(session, 1, 64 + SLOT)->at = 0;
	cr_assert_not(reads(64));
}

Test(records, refuses_what_makes_no_sense)
{
	static const uint32_t senseless[] = {
		PFT_BEGIN | PFT_HOOK_NONE, PFT_BEGIN | 0xffff, 0x04000000u, 0x7f000000u};

	for (size_t i = 0; i < sizeof senseless / sizeof senseless[0]; i++) {
		pft_fake_end(&ring, 5);
		pft_session_record(session, 1, ring.head - SLOT)->what = senseless[i];
		cr_assert_not(reads(ring.head - SLOT), "%x", senseless[i]);
	}
}

Test(records, refuses_a_gap_on_a_foreign_stack)
{
	pft_fake_gap(&ring, 5, 1, 0);
	pft_session_record(session, 1, 64)->what |= PFT_FOREIGN;
	cr_assert_not(reads(64));
}

// The writer is filling the slot for the next lap when the slot before it belongs to that lap already.
Test(records, refuses_a_slot_that_is_being_overwritten)
{
	session->overflow = 2;
	pft_fake_end(&ring, 5);
	pft_fake_end(&ring, 6);
	cr_assert(reads(64 + SLOT));
	pft_session_record(session, 1, 64)->at = 64 + RING_BYTES;
	cr_assert_not(reads(64 + SLOT));
	session->overflow = 0;
	cr_assert(reads(64 + SLOT), "that room was given back");
}
