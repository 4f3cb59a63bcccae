// SPDX-License-Identifier: MIT
// A strip: how much of its time one thread spent waiting, by time slot. Called by summary.c. Flusher context,
// or any single thread. The rule: memory does not grow with time; when the run outgrows the strip, two slots
// become one.
#ifndef PFT_STRIP_H
#define PFT_STRIP_H

#include <stdint.h>

#define PFT_STRIP_SLOTS 256
#define PFT_STRIP_FIRST_SLOT_NS (UINT64_C(1) << 16)

// All strips of a summary count from one time. A zeroed strip is an empty one.
struct pft_strip {
	uint64_t slot_ns; // a power of two; 0: nothing was added yet
	uint64_t waiting_ns[PFT_STRIP_SLOTS];
};

// The thread waited from `from_ns` up to `to_ns`, both counted from the start of all strips.
void pft_strip_add(struct pft_strip *strip, uint64_t from_ns, uint64_t to_ns);

// Makes each slot `slot_ns` long, a power of two that is no shorter than it was.
void pft_strip_coarsen(struct pft_strip *strip, uint64_t slot_ns);

// The shortest slot with which a strip reaches `to_ns`.
uint64_t pft_strip_slot_for(uint64_t to_ns);

#endif
