// SPDX-License-Identifier: MIT
// What recording a call costs on this machine, found by recording calls of nothing. Startup context, while
// there is one thread and no signal handler.
#ifndef PFT_PROBE_H
#define PFT_PROBE_H

#include <stdint.h>

// Nanoseconds that a call's slice is too long (`inside`), and that its caller's is on top of that
// (`outside`).
struct pft_probe_cost {
	uint32_t inside_ns, outside_ns;
};

// Takes less than a tenth of a millisecond. The calls go into a ring of their own, which nobody reads but
// this. Where the clock is read by a call, that is most of the cost, and what is said.
struct pft_probe_cost pft_probe_measure(void);

#endif
