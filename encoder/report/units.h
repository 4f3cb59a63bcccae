// SPDX-License-Identifier: MIT
// Quantities as people read them. Called by the writers of reports. Any context; pure.
#ifndef PFT_UNITS_H
#define PFT_UNITS_H

#include <stdint.h>

#include "encoder/base/text.h"

// Three digits or so and a unit: `17 ns`, `1.5 ms`, `203 s`.
void pft_text_add_duration(struct pft_text *text, uint64_t ns);

// `share` of one in percent: `3.1 %`, `42 %`.
void pft_text_add_share(struct pft_text *text, double share);

// With a comma between thousands.
void pft_text_add_count(struct pft_text *text, uint64_t count);

#endif
