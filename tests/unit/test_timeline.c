// SPDX-License-Identifier: MIT
// Unit tests of encoder/timeline.c against a simulated counter: its frequency drifts, and readings of the two
// clocks are not taken at quite the same time. Run by Criterion.
#include "encoder/timeline.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define START_NS (5000 * SECOND)
#define START_TICKS UINT64_C(123456789012345)
#define NOMINAL_GHZ 2.7

// The counter's frequency swings around its nominal value.
static double drift_ppm, swing_ppm;
static const double swing_seconds = 60;
static uint64_t jitter_state;
static uint64_t jitter_ns;

static uint64_t ticks_at(uint64_t ns)
{
	double seconds = (double)(ns - START_NS) / 1e9;
	double turn = 2 * M_PI / swing_seconds;
	double swing = swing_ppm / turn * (1 - cos(turn * seconds));

	return START_TICKS + (uint64_t)(NOMINAL_GHZ * 1e9 * (seconds * (1 + drift_ppm / 1e6) + swing / 1e6));
}

// What is read as `ns` while the counter shows ticks_at(ns).
static uint64_t reading_at(uint64_t ns)
{
	jitter_state = jitter_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return jitter_ns == 0 ? ns : ns + (jitter_state >> 33) % jitter_ns;
}

static struct pft_timeline started(void)
{
	struct pft_timeline line;

	pft_timeline_start(&line, ticks_at(START_NS), reading_at(START_NS), ticks_at(START_NS + 50 * MS),
		reading_at(START_NS + 50 * MS));
	return line;
}

// Goes through `seconds`, renewing every `period_ns`, converting in between; time must not step back.
// Answers the greatest error in nanoseconds.
static uint64_t run(uint64_t seconds, uint64_t period_ns)
{
	struct pft_timeline line = started();
	uint64_t renewed = START_NS + 50 * MS, last = 0, worst = 0;

	for (uint64_t ns = renewed; ns < START_NS + seconds * SECOND; ns += 3 * MS + 17) {
		uint64_t shown, error;

		if (ns - renewed >= period_ns) {
			pft_timeline_renew(&line, ticks_at(ns), reading_at(ns));
			renewed = ns;
		}
		shown = pft_timeline_ns(&line, ticks_at(ns));
		error = shown > ns ? shown - ns : ns - shown;
		worst = error > worst ? error : worst;
		cr_assert_geq(shown, last, "stepped back by %lu ns", (unsigned long)(last - shown));
		last = shown;
	}
	return worst;
}

Test(timeline, stays_exact_while_the_counter_is_fast)
{
	drift_ppm = 200;
	cr_assert_lt(run(300, 100 * MS), 100);
}

Test(timeline, stays_exact_while_the_counter_is_slow)
{
	drift_ppm = -200;
	cr_assert_lt(run(300, 100 * MS), 100);
}

Test(timeline, follows_a_counter_that_swings)
{
	swing_ppm = 20;
	cr_assert_lt(run(300, 100 * MS), 1000);
}

Test(timeline, keeps_within_a_microsecond_with_jittery_readings)
{
	drift_ppm = 200;
	swing_ppm = 5;
	jitter_ns = 250;
	cr_assert_lt(run(300, 100 * MS), 1000);
}

Test(timeline, keeps_within_a_microsecond_when_it_is_renewed_every_second)
{
	drift_ppm = -200;
	swing_ppm = 2;
	jitter_ns = 200;
	cr_assert_lt(run(300, SECOND), 1000);
}

Test(timeline, is_right_at_once_after_an_hour_without_a_reading)
{
	struct pft_timeline line;
	uint64_t late_ns = START_NS + 3600 * SECOND, shown;

	for (int sign = -1; sign <= 1; sign += 2) {
		drift_ppm = 0;
		line = started();
		drift_ppm = sign * 30;
		pft_timeline_renew(&line, ticks_at(late_ns), late_ns);
		shown = pft_timeline_ns(&line, ticks_at(late_ns + 20 * MS));
		cr_assert_lt(llabs((long long)(shown - late_ns - 20 * MS)), 1000);
	}
}

Test(timeline, goes_on_at_its_old_rate_after_the_machine_was_suspended)
{
	struct pft_timeline line = started();
	uint64_t asleep = 3600 * SECOND, ns = START_NS + SECOND, shown;

	pft_timeline_renew(&line, ticks_at(ns), ns + asleep);
	shown = pft_timeline_ns(&line, ticks_at(ns + 10 * MS));
	cr_assert_lt(llabs((long long)(shown - ns - asleep - 10 * MS)), 1000);
}

Test(timeline, heals_when_the_first_line_met_with_a_suspension)
{
	struct pft_timeline line;
	uint64_t ns = START_NS + SECOND, asleep = 60 * SECOND, shown;

	pft_timeline_start(&line, ticks_at(START_NS), START_NS, ticks_at(ns), ns + asleep);
	pft_timeline_renew(&line, ticks_at(ns + SECOND), ns + asleep + SECOND);
	shown = pft_timeline_ns(&line, ticks_at(ns + SECOND + 10 * MS));
	cr_assert_lt(llabs((long long)(shown - ns - asleep - SECOND - 10 * MS)), 1000);
}

Test(timeline, has_a_rate_of_exactly_one_on_the_monotonic_clock)
{
	struct pft_timeline line;

	pft_timeline_start(&line, 1000, 501000, 100000000, 100500000);
	cr_assert_eq(line.rate, UINT64_C(1) << 32);
	for (uint64_t ticks = 200 * MS; ticks < 10 * SECOND; ticks += 77 * MS) {
		pft_timeline_renew(&line, ticks, ticks + 500000);
		cr_assert_eq(line.rate, UINT64_C(1) << 32);
		cr_assert_eq(pft_timeline_ns(&line, ticks + 3), ticks + 500003);
	}
}

Test(timeline, has_a_rate_of_one_when_it_starts_on_a_single_reading)
{
	struct pft_timeline line;

	pft_timeline_start(&line, 1000, 501000, 1000, 501000);
	cr_assert_eq(pft_timeline_ns(&line, 1700), 501700);
}

Test(timeline, ignores_readings_that_are_too_close)
{
	struct pft_timeline line = started(), before = line;

	pft_timeline_renew(&line, line.ticks + 2700 * 999, line.ns + 999000);
	cr_assert_eq(memcmp(&line, &before, sizeof line), 0);
	pft_timeline_renew(&line, line.ticks - 2700000, line.ns + 2 * MS);
	cr_assert_eq(memcmp(&line, &before, sizeof line), 0);
}

Test(timeline, converts_ticks_before_its_start_with_its_slope)
{
	struct pft_timeline line;

	pft_timeline_start(&line, 0, 1000000000, 2000000000, 2000000000);
	cr_assert_eq(pft_timeline_ns(&line, 1000000000), 1500000000);
	cr_assert_eq(pft_timeline_ns(&line, 0), 1000000000);
}

// The rate has 32 fractional bits, which are good for a second in a hundred years.
Test(timeline, does_not_overflow_in_fifty_years_at_five_gigahertz)
{
	struct pft_timeline line;
	uint64_t seconds = UINT64_C(1577880000), shown;

	pft_timeline_start(&line, 0, 0, 5 * SECOND, SECOND);
	shown = pft_timeline_ns(&line, seconds * 5 * SECOND);
	cr_assert_lt(llabs((long long)(shown - seconds * SECOND)), (long long)(3 * SECOND));
}
