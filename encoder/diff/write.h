// SPDX-License-Identifier: MIT
// A comparison written down, for people and for programs. Called by diff.c. Any single thread; what is wrong
// with `to` is left to ferror.
#ifndef PFT_DIFF_WRITE_H
#define PFT_DIFF_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "encoder/diff/compare.h"

struct pft_diff {
	const struct pft_side *before, *after;
	const struct pft_comparison *comparison;
	const struct pft_limits *limits;
};

// What changed, `rows` functions at most; `colour`: for a terminal that knows colours.
void pft_diff_text(FILE *to, const struct pft_diff *diff, uint32_t rows, bool colour);

// One JSON object with all functions, changed or not.
void pft_diff_json(FILE *to, const struct pft_diff *diff);

#endif
