// SPDX-License-Identifier: MIT
// Durations by size, log-linear: each power of two is cut into 32 equal parts, so a quantile is off by less
// than 1.6 %, whatever the range. Called by summary.c. Flusher context, or any single thread. The rule:
// memory follows the powers of two that occur, not the number of values.
#ifndef PFT_HISTOGRAM_H
#define PFT_HISTOGRAM_H

#include <stdint.h>

#include "encoder/base/arena.h"

#define PFT_HISTOGRAM_PARTS 32
#define PFT_HISTOGRAM_POWERS 60

// A zeroed histogram is an empty one.
struct pft_histogram {
	uint64_t *powers[PFT_HISTOGRAM_POWERS]; // counts of the parts; NULL where no value fell
	uint64_t count;
	uint64_t uncounted; // values for which there was no memory
};

void pft_histogram_add(struct pft_histogram *histogram, struct pft_arena *arena, uint64_t value);

// Adds what the other one holds.
void pft_histogram_merge(
	struct pft_histogram *histogram, struct pft_arena *arena, const struct pft_histogram *other);

// The value that `share` (0 to 1) of the values do not exceed; 0 when there are none.
uint64_t pft_histogram_quantile(const struct pft_histogram *histogram, double share);

#endif
