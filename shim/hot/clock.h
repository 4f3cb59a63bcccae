// SPDX-License-Identifier: MIT
// The recording clock. Hot context. The trampoline reads the time-stamp counter itself; when that is not
// invariant (or PFT_CLOCK says so) every event takes the slow path and reads CLOCK_MONOTONIC here, through
// the vDSO: the kernel compiles it without vector instructions, so no register of the program is touched.
#ifndef PFT_CLOCK_H
#define PFT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/session.h"

struct timespec;

// Startup. `gettime` is the vDSO's clock_gettime, or NULL: then the system call is made.
void pft_clock_start(enum pft_clock clock, int (*gettime)(int clock, struct timespec *now));

uint64_t pft_clock_ticks(void);

// Startup, where spans are asked for.
void pft_clock_start_spans(void);

// Nanoseconds that so many ticks take: within a thousandth, from a millisecond after that on.
uint64_t pft_clock_span_ns(uint64_t ticks);

// Whether the trampoline may read the clock by itself.
bool pft_clock_is_tsc(void);

// All clocks at one moment. `ticks` and `boot_ns` are closest together: one converts to the other.
struct pft_clock_reading {
	uint64_t ticks, boot_ns, monotonic_ns, real_ns;
};

struct pft_clock_reading pft_clock_read(void);

// Nanoseconds of a kernel clock (CLOCK_BOOTTIME, ...).
uint64_t pft_clock_ns(int clock);

// CPUID 80000007H:EDX[8]: the counter runs at one rate in all power states.
bool pft_clock_tsc_is_invariant(void);

// Linux offers the counter as a clock source while it finds it in step between processors. Many virtual
// machines offer their own instead and leave the counter out, whatever it is like. True where it cannot be
// read.
bool pft_clock_tsc_is_offered(void);

#endif
