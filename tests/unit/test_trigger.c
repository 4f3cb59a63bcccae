// SPDX-License-Identifier: MIT
// Unit tests of shim/hot/trigger.c, and of dumps that the flusher makes of rings that keep the newest. Run by
// Criterion.
#include "shim/hot/trigger.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/hot/clock.h"
#include "shim/hot/self.h"
#include "shim/hot/window.h"
#include "tests/unit/recording.h"

#define TRIGGER_TEST(name) Test(trigger, name, .fini = recording_clean, .timeout = 120)

static uint32_t work, other;
static struct pft_totals totals;

static void start(uint64_t over_ns)
{
	recording_settings.overflow = PFT_OVERFLOW_OVERWRITE;
	recording_make();
	work = recording_hook("work");
	other = recording_hook("other");
	pft_window_marks[work] = PFT_MARK_TRIGGER;
	if (over_ns)
		pft_trigger_start(over_ns);
	recording_start();
}

static void rest_ms(long ms)
{
	nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

// As if it had begun so long ago.
static void meet(uint32_t hook, uint64_t ago_ns)
{
	uint64_t start = pft_clock_ticks(), start_ns = pft_clock_ns(CLOCK_MONOTONIC);

	while (pft_clock_ns(CLOCK_MONOTONIC) - start_ns < ago_ns)
		;
	pft_trigger_meet(hook, start, 0);
}

// ---- asking -----------------------------------------------------------------------------------------

TRIGGER_TEST(is_off_unless_it_is_asked_for)
{
	start(0);
	cr_assert_not(pft_trigger_is_on());
	meet(work, 2000000);
	cr_assert_not(pft_trigger_is_met());
}

TRIGGER_TEST(is_met_by_a_call_that_takes_longer)
{
	uint32_t index = 77;

	start(1000000);
	cr_assert(pft_trigger_is_on());
	meet(work, 0);
	cr_assert_not(pft_trigger_is_met());
	pft_trigger_meet(work, pft_clock_ticks() - (UINT64_C(1) << 40), 3);
	pft_trigger_meet(work, pft_clock_ticks() - (UINT64_C(1) << 40), 4);
	cr_assert(pft_trigger_take(&index));
	cr_assert_eq(index, 3, "the first is the one");
	cr_assert_not(pft_trigger_take(&index));
}

TRIGGER_TEST(is_met_by_calls_that_are_marked_only)
{
	start(1000000);
	meet(other, 3000000);
	cr_assert_not(pft_trigger_is_met());
	meet(work, 3000000);
	cr_assert(pft_trigger_is_met());
	pft_trigger_forget();
	cr_assert_not(pft_trigger_is_met());
}

// There is no room before the limits: the next event takes the slow path, where calls are timed.
TRIGGER_TEST(sees_every_call)
{
	start(1);
	for (int i = 0; i < 100; i++) {
		recording_call(work);
		cr_assert_leq(pft_self->begin_limit, pft_head_position(pft_self->head));
	}
}

// ---- dumps ------------------------------------------------------------------------------------------

TRIGGER_TEST(has_the_rings_written)
{
	start(1);
	recording_calls(other, 50);
	recording_call(work);
	cr_assert(recording_await("work", 1));
	cr_assert_eq(recording_slices("other"), 50);
	recording_calls(other, 7);
	rest_ms(300);
	cr_assert_eq(recording_slices("other"), 50, "no call that is marked has come");
	recording_call(work);
	cr_assert(recording_await("work", 2));
	cr_assert_eq(recording_slices("other"), 57);
	cr_assert_eq(recording_finish(&totals), 0);
	cr_assert_eq(totals.written, 2 * 59);
}

TRIGGER_TEST(wakes_a_flusher_that_sleeps_long)
{
	start(1);
	recording_call(other);
	for (unsigned turn = 0; turn < 1000 && pft_session->flusher_asleep != PFT_ASLEEP_LONG; turn++)
		rest_ms(10);
	cr_assert_eq(pft_session->flusher_asleep, PFT_ASLEEP_LONG);
	recording_call(work);
	cr_assert(recording_await("work", 1));
}
