// SPDX-License-Identifier: MIT
// Waiting by time slot: see strip.h. Flusher context.
#include "encoder/report/strip.h"

static void halve(struct pft_strip *strip)
{
	for (unsigned i = 0; i < PFT_STRIP_SLOTS / 2; i++)
		strip->waiting_ns[i] = strip->waiting_ns[2 * i] + strip->waiting_ns[2 * i + 1];
	for (unsigned i = PFT_STRIP_SLOTS / 2; i < PFT_STRIP_SLOTS; i++)
		strip->waiting_ns[i] = 0;
	strip->slot_ns *= 2;
}

uint64_t pft_strip_slot_for(uint64_t to_ns)
{
	uint64_t slot_ns = PFT_STRIP_FIRST_SLOT_NS;

	while (to_ns / slot_ns >= PFT_STRIP_SLOTS)
		slot_ns *= 2;
	return slot_ns;
}

void pft_strip_coarsen(struct pft_strip *strip, uint64_t slot_ns)
{
	if (strip->slot_ns == 0)
		strip->slot_ns = PFT_STRIP_FIRST_SLOT_NS;
	while (strip->slot_ns < slot_ns)
		halve(strip);
}

void pft_strip_add(struct pft_strip *strip, uint64_t from_ns, uint64_t to_ns)
{
	pft_strip_coarsen(strip, pft_strip_slot_for(to_ns));
	while (from_ns < to_ns) {
		// The end of the last slot is beyond what a number holds when the run is that long.
		uint64_t piece_ns = strip->slot_ns - from_ns % strip->slot_ns;

		if (piece_ns > to_ns - from_ns)
			piece_ns = to_ns - from_ns;
		strip->waiting_ns[from_ns / strip->slot_ns] += piece_ns;
		from_ns += piece_ns;
	}
}
