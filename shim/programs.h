// SPDX-License-Identifier: MIT
// Which programs of a tree record (PFT_PROCESSES). Pure; startup context.
//
//   [-] program-glob , ...      `-` excludes; the last one that matches decides
//
// A program that none matches records only where the first one excludes: "all but these".
#ifndef PFT_PROGRAMS_H
#define PFT_PROGRAMS_H

#include <stdbool.h>

// Whether every glob of the list is one, and there is any.
bool pft_programs_valid(const char *list);

// Whether a list that is valid selects the program of this name (without directory).
bool pft_programs_select(const char *list, const char *program);

#endif
