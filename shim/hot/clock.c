// SPDX-License-Identifier: MIT
// Reading the recording clock outside the trampoline. Hot context; see clock.h.
#include "shim/hot/clock.h"

#include <cpuid.h>
#include <time.h>
#include <x86intrin.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/hot.h"

static enum pft_clock clock_kind;
static int (*clock_vdso)(int clock, struct timespec *now);

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

bool pft_clock_is_tsc(void)
{
	return clock_kind == PFT_CLOCK_TSC;
}

bool pft_clock_tsc_is_invariant(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & (1u << 8));
}
