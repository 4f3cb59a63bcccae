// SPDX-License-Identifier: MIT
// A list of executions as a person reads it. Called by the programs that list and remove executions.
#ifndef PFT_EXECUTIONS_SHOWN_H
#define PFT_EXECUTIONS_SHOWN_H

#include <stdint.h>

#include "encoder/executions/list.h"

// Seconds since it was last written to.
uint64_t pft_listed_age_s(const struct pft_listed *execution);

// A line each on standard output, below a heading.
void pft_list_print(const struct pft_list *list);

#endif
