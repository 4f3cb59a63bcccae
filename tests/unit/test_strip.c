// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/strip.c. Run by Criterion.
#include "encoder/report/strip.h"

#include <criterion/criterion.h>
#include <stdint.h>

#define SLOT PFT_STRIP_FIRST_SLOT_NS

static uint64_t sum(const struct pft_strip *strip)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < PFT_STRIP_SLOTS; i++)
		ns += strip->waiting_ns[i];
	return ns;
}

Test(strip, cuts_a_wait_at_the_slots)
{
	struct pft_strip strip = {0};

	pft_strip_add(&strip, SLOT / 2, 3 * SLOT + 5);
	cr_assert_eq(strip.slot_ns, SLOT);
	cr_assert_eq(strip.waiting_ns[0], SLOT / 2);
	cr_assert_eq(strip.waiting_ns[1], SLOT);
	cr_assert_eq(strip.waiting_ns[2], SLOT);
	cr_assert_eq(strip.waiting_ns[3], 5);
	cr_assert_eq(sum(&strip), 3 * SLOT + 5 - SLOT / 2);
}

Test(strip, becomes_coarser_and_loses_nothing)
{
	struct pft_strip strip = {0};

	pft_strip_add(&strip, 0, SLOT / 4);
	pft_strip_add(&strip, SLOT, SLOT + SLOT / 2);
	pft_strip_add(&strip, 1000 * SLOT, 1000 * SLOT + 3);
	cr_assert_eq(strip.slot_ns, 4 * SLOT);
	cr_assert_eq(strip.waiting_ns[0], SLOT / 4 + SLOT / 2);
	cr_assert_eq(strip.waiting_ns[250], 3);
	cr_assert_eq(sum(&strip), SLOT / 4 + SLOT / 2 + 3);
}

Test(strip, can_be_made_as_coarse_as_another)
{
	struct pft_strip strip = {0};

	pft_strip_add(&strip, 5 * SLOT, 6 * SLOT);
	pft_strip_coarsen(&strip, pft_strip_slot_for(3000 * SLOT));
	cr_assert_eq(strip.slot_ns, 16 * SLOT);
	cr_assert_eq(strip.waiting_ns[0], SLOT);
}

Test(strip, reaches_the_end_of_the_longest_run)
{
	struct pft_strip strip = {0};

	pft_strip_add(&strip, UINT64_MAX / 4 - 10, UINT64_MAX / 4);
	cr_assert_eq(sum(&strip), 10);
}

Test(strip, reaches_to_the_end_of_time)
{
	static struct pft_strip strip;

	pft_strip_add(&strip, UINT64_MAX - 10, UINT64_MAX);
	cr_assert_eq(strip.slot_ns, UINT64_C(1) << 56);
	cr_assert_eq(strip.waiting_ns[PFT_STRIP_SLOTS - 1], 10);
	cr_assert_eq(strip.waiting_ns[0], 0);
}
