// SPDX-License-Identifier: MIT
// Reading the recording clock outside the trampoline. Hot context; see clock.h.
#include "shim/hot/clock.h"

#include <cpuid.h>
#include <fcntl.h>
#include <time.h>
#include <x86intrin.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/hot.h"

static enum pft_clock clock_kind;
static int (*clock_vdso)(int clock, struct timespec *now);

// How long a tick is, measured since the start, anew when that is twice as long ago.
#define RATE_SHIFT 20
#define MEASURED_LONG_ENOUGH (UINT64_C(1) << 40) // ticks, a few minutes

static struct {
	uint64_t start_ticks, start_ns;
	uint64_t next; // ticks after the start at which it is measured anew
	uint64_t rate; // nanoseconds a tick, RATE_SHIFT bits behind the point
} speed;

void pft_clock_start(enum pft_clock clock, int (*gettime)(int clock, struct timespec *now))
{
	clock_kind = clock;
	clock_vdso = gettime;
}

uint64_t pft_clock_ns(int clock)
{
	struct timespec now;

	if (!clock_vdso || clock_vdso(clock, &now))
		pft_sys_clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t pft_clock_ticks(void)
{
	if (clock_kind == PFT_CLOCK_TSC)
		return __rdtsc();
	return pft_clock_ns(CLOCK_MONOTONIC);
}

// A preemption between the two readings would bend the conversion: the closest of a few pairs is taken.
struct pft_clock_reading pft_clock_read(void)
{
	struct pft_clock_reading reading;
	uint64_t closest = UINT64_MAX;

	for (unsigned attempt = 0; attempt < 5; attempt++) {
		uint64_t before = pft_clock_ticks();
		uint64_t boot_ns = pft_clock_ns(CLOCK_BOOTTIME);
		uint64_t apart = pft_clock_ticks() - before;

		if (apart >= closest)
			continue;
		closest = apart;
		reading.ticks = before + apart / 2;
		reading.boot_ns = boot_ns;
		reading.monotonic_ns = pft_clock_ns(CLOCK_MONOTONIC);
		reading.real_ns = pft_clock_ns(CLOCK_REALTIME);
	}
	return reading;
}

void pft_clock_start_spans(void)
{
	speed.start_ticks = pft_clock_ticks();
	speed.start_ns = pft_clock_ns(CLOCK_MONOTONIC);
}

static void measure(uint64_t elapsed)
{
	uint64_t ns = pft_clock_ns(CLOCK_MONOTONIC) - speed.start_ns;

	__atomic_store_n(&speed.rate, (ns << RATE_SHIFT) / elapsed, __ATOMIC_RELAXED);
	__atomic_store_n(
		&speed.next, elapsed < MEASURED_LONG_ENOUGH ? 2 * elapsed : UINT64_MAX, __ATOMIC_RELAXED);
}

uint64_t pft_clock_span_ns(uint64_t ticks)
{
	uint64_t elapsed;

	if (clock_kind != PFT_CLOCK_TSC)
		return ticks;
	elapsed = pft_clock_ticks() - speed.start_ticks;
	if (elapsed != 0 && elapsed >= __atomic_load_n(&speed.next, __ATOMIC_RELAXED))
		measure(elapsed);
	return (uint64_t)((unsigned __int128)ticks * __atomic_load_n(&speed.rate, __ATOMIC_RELAXED) >>
			  RATE_SHIFT);
}

bool pft_clock_is_tsc(void)
{
	return clock_kind == PFT_CLOCK_TSC;
}

static bool names_tsc(const char *list, long size)
{
	for (long i = 0; i + 2 < size; i++)
		if (list[i] == 't' && list[i + 1] == 's' && list[i + 2] == 'c')
			return true;
	return false;
}

bool pft_clock_tsc_is_offered(void)
{
	char list[128];
	long fd =
		pft_sys_openat(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/available_clocksource",
			O_RDONLY | O_CLOEXEC, 0);
	long size = fd < 0 ? -1 : pft_sys_read((int)fd, list, sizeof(list));

	if (fd >= 0)
		pft_sys_close((int)fd);
	return size < 0 || names_tsc(list, size);
}

bool pft_clock_tsc_is_invariant(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & (1u << 8));
}
