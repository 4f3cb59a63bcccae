// SPDX-License-Identifier: MIT
// Quantities as people read them, and columns of them. Called by the writers of reports and lists. Any
// context; pure.
#ifndef PFT_UNITS_H
#define PFT_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/text.h"

// Three digits or so and a unit: `17 ns`, `1.5 ms`, `203 s`.
void pft_text_add_duration(struct pft_text *text, uint64_t ns);

// `share` of one in percent: `3.1 %`, `42 %`.
void pft_text_add_share(struct pft_text *text, double share);

// With a comma between thousands.
void pft_text_add_count(struct pft_text *text, uint64_t count);

// Of a file: `352 B`, `1.5 KiB`, `2.0 GiB`.
void pft_text_add_size(struct pft_text *text, uint64_t bytes);

// Whole units: `59 s`, `3 min`, `47 h`, `12 d`.
void pft_text_add_age(struct pft_text *text, uint64_t seconds);

// What was added since the text was `start` bytes long is moved to the right end of a column; what is too
// wide for it is moved by a blank.
void pft_text_align_right(struct pft_text *text, size_t start, size_t width);

// A count and what is counted: `1 call`, `2,000 calls`. `one` takes an s.
void pft_text_add_things(struct pft_text *text, uint64_t count, const char *one);

#endif
