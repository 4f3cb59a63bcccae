// SPDX-License-Identifier: MIT
// Clock snapshots and timestamps: see clocks.h.
#include "encoder/read/clocks.h"

#include <stddef.h>

// Fields of ClockSnapshot and of its Clock.
enum { SNAPSHOT_CLOCKS = 1 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_IS_INCREMENTAL = 3, CLOCK_UNIT_NS = 4 };

struct reading {
	uint64_t id, timestamp, unit_ns;
	bool incremental;
};

static struct reading read_clock(const struct pft_wire_field *message)
{
	struct pft_wire wire = pft_wire_of(message);
	struct reading reading = {.id = PFT_CLOCK_LAST + 1, .unit_ns = 1};
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == CLOCK_ID)
			reading.id = field.value;
		else if (field.number == CLOCK_TIMESTAMP)
			reading.timestamp = field.value;
		else if (field.number == CLOCK_IS_INCREMENTAL)
			reading.incremental = field.value != 0;
		else if (field.number == CLOCK_UNIT_NS && field.value)
			reading.unit_ns = field.value;
	}
	return reading;
}

static struct pft_clock_state *state_of(
	struct pft_clock_table *trace, struct pft_clock_table *sequence, uint64_t id)
{
	if (id > PFT_CLOCK_LAST)
		return NULL;
	return id <= PFT_CLOCK_TRACE_LAST ? &trace->clocks[id]
					  : &sequence->clocks[id - PFT_CLOCK_TRACE_LAST - 1];
}

// The next clock of the snapshot. False at its end.
static bool next_clock(struct pft_wire *wire, struct reading *reading)
{
	struct pft_wire_field field;

	while (pft_wire_next(wire, &field)) {
		if (field.number != SNAPSHOT_CLOCKS || !field.has_bytes)
			continue;
		*reading = read_clock(&field);
		return true;
	}
	return false;
}

// BOOTTIME when the snapshot was taken. False when nothing in it says.
static bool boot_time(struct pft_clock_table *trace, const struct pft_wire_field *snapshot, uint64_t *boot_ns)
{
	struct pft_wire wire = pft_wire_of(snapshot);
	struct reading reading;
	bool found = false;

	while (next_clock(&wire, &reading)) {
		uint64_t ns = reading.timestamp * reading.unit_ns;

		if (reading.id == PFT_CLOCK_BOOTTIME) {
			*boot_ns = ns;
			return true;
		}
		if (!found && reading.id <= PFT_CLOCK_TRACE_LAST && trace->clocks[reading.id].known) {
			*boot_ns = ns + trace->clocks[reading.id].to_boot;
			found = true;
		}
	}
	return found;
}

void pft_clocks_snapshot(struct pft_clock_table *trace, struct pft_clock_table *sequence,
	const struct pft_wire_field *snapshot)
{
	struct pft_wire wire = pft_wire_of(snapshot);
	struct reading reading;
	uint64_t boot_ns;

	if (!boot_time(trace, snapshot, &boot_ns))
		return;
	while (next_clock(&wire, &reading)) {
		struct pft_clock_state *state = state_of(trace, sequence, reading.id);
		uint64_t ns = reading.timestamp * reading.unit_ns;

		if (state)
			*state = (struct pft_clock_state){.known = true,
				.incremental = reading.incremental,
				.unit_ns = reading.unit_ns,
				.last = ns,
				.to_boot = boot_ns - ns};
	}
}

bool pft_clocks_time(const struct pft_clock_table *trace, struct pft_clock_table *sequence, uint32_t id,
	uint64_t timestamp, uint64_t *ns)
{
	struct pft_clock_state *clock;

	*ns = timestamp;
	if (id == PFT_CLOCK_BOOTTIME)
		return true;
	if (id > PFT_CLOCK_LAST)
		return false;
	if (id <= PFT_CLOCK_TRACE_LAST) {
		*ns = timestamp + trace->clocks[id].to_boot;
		return trace->clocks[id].known;
	}
	clock = &sequence->clocks[id - PFT_CLOCK_TRACE_LAST - 1];
	if (!clock->known)
		return false;
	*ns = timestamp * clock->unit_ns + (clock->incremental ? clock->last : 0);
	clock->last = *ns;
	*ns += clock->to_boot;
	return true;
}
