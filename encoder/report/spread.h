// SPDX-License-Identifier: MIT
// What the own times of a function's calls typically add up to, and how far that may be off. Called by
// summary.c, and read by encoder/diff/. Flusher context, or any single thread; pure. Calls that follow each
// other are no independent measurements: what slows one down slows down its neighbours. So calls are added up
// in batches, as they end. Typical is the faster half of the batches, but for the fastest: those that were
// interrupted for long are not among them. The rule: memory does not grow with calls; when there are too many
// batches, two neighbours become one.
#ifndef PFT_SPREAD_H
#define PFT_SPREAD_H

#include <stdint.h>

#define PFT_SPREAD_BATCHES 32

// A zeroed one is empty.
struct pft_spread {
	uint64_t sums_ns[PFT_SPREAD_BATCHES]; // of whole batches, and of the one that is being filled
	uint64_t batch; // calls in a whole one, a power of two; 0: nothing was added yet
	uint64_t filled; // calls in the one that is being filled
	uint32_t whole;
};

// Of all calls together.
struct pft_typical {
	double ns;
	double variance_ns2;
	double freedom; // degrees of it; 0: with so few calls nothing is known of the variance
};

void pft_spread_add(struct pft_spread *spread, uint64_t ns);
struct pft_typical pft_spread_typical(const struct pft_spread *spread);

#endif
