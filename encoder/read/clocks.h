// SPDX-License-Identifier: MIT
// The clocks of a trace and of one packet sequence: what a timestamp means. Called by reader.c. The rule:
// times come out in nanoseconds of CLOCK_BOOTTIME, or not at all.
#ifndef PFT_READ_CLOCKS_H
#define PFT_READ_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/read/wire.h"

// Clocks up to this id belong to the trace, the others up to PFT_CLOCK_LAST to a sequence.
#define PFT_CLOCK_TRACE_LAST 63
#define PFT_CLOCK_LAST 127
#define PFT_CLOCK_BOOTTIME 6

struct pft_clock_state {
	bool known, incremental;
	uint64_t unit_ns;
	uint64_t last; // in nanoseconds of the clock
	uint64_t to_boot; // to add; wraps
};

// Indexed by the clock's id in the trace's clocks, by id - 64 in a sequence's.
struct pft_clock_table {
	struct pft_clock_state clocks[64];
};

// Takes a ClockSnapshot. Its clocks are tied to BOOTTIME when it has that, or one that is tied already.
void pft_clocks_snapshot(struct pft_clock_table *trace, struct pft_clock_table *sequence,
	const struct pft_wire_field *snapshot);

// A timestamp of a packet by clock `id`. False when nothing says what that clock is.
bool pft_clocks_time(const struct pft_clock_table *trace, struct pft_clock_table *sequence, uint32_t id,
	uint64_t timestamp, uint64_t *ns);

#endif
