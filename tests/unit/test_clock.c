// SPDX-License-Identifier: MIT
// The recording clock: which one it is, and that what is read together belongs together.
#include "shim/hot/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define SECOND_NS UINT64_C(1000000000)

static int asked_for, answers;

static int fake_gettime(int clock, struct timespec *now)
{
	asked_for = clock;
	answers++;
	*now = (struct timespec){7, 100 * answers + clock};
	return 0;
}

static int broken_gettime(int clock, struct timespec *now)
{
	(void)clock;
	answers++;
	now->tv_sec = 1;
	return -EINVAL;
}

static uint64_t libc_ns(int clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

// Between two readings of the same clock.
static void check_ns(int clock)
{
	uint64_t before = libc_ns(clock), read = pft_clock_ns(clock), after = libc_ns(clock);

	cr_assert_geq(read, before, "clock %d", clock);
	cr_assert_leq(read, after, "clock %d", clock);
}

Test(clock, counts_ticks_of_the_counter)
{
	uint64_t before, read, after;

	pft_clock_start(PFT_CLOCK_TSC, NULL);
	cr_assert(pft_clock_is_tsc());
	before = __rdtsc();
	read = pft_clock_ticks();
	after = __rdtsc();
	cr_assert_geq(read, before);
	cr_assert_leq(read, after);
}

Test(clock, counts_monotonic_nanoseconds_where_the_counter_is_no_clock)
{
	uint64_t before, read, after;

	pft_clock_start(PFT_CLOCK_MONOTONIC, NULL);
	cr_assert_not(pft_clock_is_tsc());
	before = libc_ns(CLOCK_MONOTONIC);
	read = pft_clock_ticks();
	after = libc_ns(CLOCK_MONOTONIC);
	cr_assert_geq(read, before);
	cr_assert_leq(read, after);
}

Test(clock, reads_every_clock_by_a_system_call)
{
	pft_clock_start(PFT_CLOCK_TSC, NULL);
	check_ns(CLOCK_MONOTONIC);
	check_ns(CLOCK_BOOTTIME);
	check_ns(CLOCK_REALTIME);
}

Test(clock, reads_through_the_vdso_where_there_is_one)
{
	pft_clock_start(PFT_CLOCK_MONOTONIC, fake_gettime);
	cr_assert_eq(pft_clock_ns(CLOCK_BOOTTIME), 7 * SECOND_NS + 100 + CLOCK_BOOTTIME);
	cr_assert_eq(asked_for, CLOCK_BOOTTIME);
	cr_assert_eq(pft_clock_ticks(), 7 * SECOND_NS + 200 + CLOCK_MONOTONIC);
	cr_assert_eq(asked_for, CLOCK_MONOTONIC);
}

Test(clock, asks_the_kernel_where_the_vdso_does_not_know)
{
	pft_clock_start(PFT_CLOCK_MONOTONIC, broken_gettime);
	check_ns(CLOCK_BOOTTIME);
	cr_assert_eq(answers, 1);
}

static void check_reading(enum pft_clock clock)
{
	struct pft_clock_reading reading;
	uint64_t ticks, boot_ns = libc_ns(CLOCK_BOOTTIME), monotonic_ns = libc_ns(CLOCK_MONOTONIC);
	uint64_t real_ns = libc_ns(CLOCK_REALTIME);

	pft_clock_start(clock, NULL);
	ticks = pft_clock_ticks();
	reading = pft_clock_read();
	cr_assert_geq(reading.ticks, ticks);
	cr_assert_leq(reading.ticks, pft_clock_ticks());
	cr_assert_geq(reading.boot_ns, boot_ns);
	cr_assert_leq(reading.boot_ns, libc_ns(CLOCK_BOOTTIME));
	cr_assert_geq(reading.monotonic_ns, monotonic_ns);
	cr_assert_leq(reading.monotonic_ns, libc_ns(CLOCK_MONOTONIC));
	cr_assert_geq(reading.real_ns, real_ns);
	cr_assert_leq(reading.real_ns, libc_ns(CLOCK_REALTIME));
}

Test(clock, reads_all_clocks_at_one_moment)
{
	check_reading(PFT_CLOCK_TSC);
	check_reading(PFT_CLOCK_MONOTONIC);
}

// Five attempts, each with the counter before and behind a reading of boot time; the first three come closer
// and closer, so the other clocks are read as well.
static int staged_gettime(int clock, struct timespec *now)
{
	static const long monotonic[] = {
		1000, 1900, 1, 5000, 5200, 2, 9000, 9010, 3, 20000, 20500, 30000, 30400};
	static unsigned monotonic_read, boot_read;

	now->tv_sec = 0;
	if (clock == CLOCK_MONOTONIC)
		now->tv_nsec = monotonic[monotonic_read++];
	else
		now->tv_nsec = clock == CLOCK_BOOTTIME ? 100 * ++boot_read : 77;
	return 0;
}

Test(clock, keeps_the_reading_whose_clocks_are_closest_together)
{
	struct pft_clock_reading reading;

	pft_clock_start(PFT_CLOCK_MONOTONIC, staged_gettime);
	reading = pft_clock_read();
	cr_assert_eq(reading.ticks, 9005);
	cr_assert_eq(reading.boot_ns, 300);
	cr_assert_eq(reading.monotonic_ns, 3);
	cr_assert_eq(reading.real_ns, 77);
}

static bool is_in_file(const char *path, const char *word)
{
	char line[8192];
	bool found = false;
	FILE *file = fopen(path, "r");

	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, word) != NULL;
	fclose(file);
	return found;
}

// The kernel names the property among the processor's flags, and has its own opinion besides.
Test(clock, knows_whether_the_counter_is_a_clock)
{
	const char *offered = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

	cr_assert_eq(pft_clock_tsc_is_invariant(), is_in_file("/proc/cpuinfo", " nonstop_tsc "));
	cr_assert_eq(pft_clock_tsc_is_offered(), is_in_file(offered, "tsc"));
}
