// SPDX-License-Identifier: MIT
// Unit tests of shim/hot/probe.c. Run by Criterion.
#include "shim/hot/probe.h"

#include <criterion/criterion.h>

#include "shim/hot/clock.h"
#include "shim/hot/self.h"
#include "tests/unit/seated.h"

Test(probe, finds_what_a_call_costs)
{
	struct pft_probe_cost cost;

	if (!pft_clock_tsc_is_invariant())
		cr_skip_test("calls record with another clock here");
	pft_clock_start(PFT_CLOCK_TSC, NULL);
	cost = pft_probe_measure();
	cr_assert_gt(cost.inside_ns, 1);
	cr_assert_lt(cost.inside_ns + cost.outside_ns, 10000);
}

Test(probe, leaves_the_thread_as_it_was)
{
	struct pft_self *self;
	uint64_t head;

	if (!pft_clock_tsc_is_invariant())
		cr_skip_test("calls record with another clock here");
	self = seated_start(PFT_CLOCK_TSC);
	head = self->head;
	pft_probe_measure();
	cr_assert_eq(pft_self, self);
	cr_assert_eq(self->head, head);
}

Test(probe, finds_what_another_clock_costs)
{
	struct pft_probe_cost cost;

	pft_clock_start(PFT_CLOCK_MONOTONIC, NULL);
	cost = pft_probe_measure();
	cr_assert_gt(cost.inside_ns, 1);
	cr_assert_lt(cost.inside_ns, 10000);
	cr_assert_eq(cost.outside_ns, cost.inside_ns);
}
