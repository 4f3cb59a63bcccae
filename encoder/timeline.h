// SPDX-License-Identifier: MIT
// From ticks of the recording clock to nanoseconds of CLOCK_BOOTTIME. Flusher context; pure.
// The line is renewed by slope: a new line goes through the latest reading, or, when the old one is ahead of
// it, starts on the old one and is aimed at where the clocks will be one period later. So converted time does
// not step back and its error stays under a microsecond. Only a line that is more than 10 us ahead, after
// long idling, is set right at once: nothing was converted out there.
#ifndef PFT_TIMELINE_H
#define PFT_TIMELINE_H

#include "encoder/session.h"

// A first line from two readings of both clocks; `to` is later than `from`. With the monotonic clock
// ticks are nanoseconds already and the rate is exactly one.
void pft_timeline_start(
	struct pft_timeline *line, uint64_t from_ticks, uint64_t from_ns, uint64_t to_ticks, uint64_t to_ns);

// Aims the line anew from a fresh reading of both clocks. Readings closer than a millisecond to the
// start of the present line are ignored.
void pft_timeline_renew(struct pft_timeline *line, uint64_t ticks, uint64_t ns);

// Ticks before the line's start are converted with its slope as well.
uint64_t pft_timeline_ns(const struct pft_timeline *line, uint64_t ticks);

#endif
