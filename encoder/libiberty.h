// SPDX-License-Identifier: MIT
// A place for libiberty's demanglers to run in: memory, a stack and the few libc functions that they call,
// none of them the program's. Called by demangle.c. The build renames malloc, calloc, realloc, free, sprintf,
// snprintf and the checked forms of the last two, in a copy of libiberty, to the same names with __wrap_ in
// front. The rule: inside a run memory comes from the arena; outside there is none.
#ifndef PFT_LIBIBERTY_H
#define PFT_LIBIBERTY_H

#include <stdbool.h>

#include "encoder/base/arena.h"

// Runs `work`, after whoever is inside: an object that is opened is looked at by the thread that opens it.
// False, with nothing done, when there is no memory for the stack, or when the other one stays for longer
// than any name takes (10 ms).
bool pft_libiberty_run(struct pft_arena *arena, void (*work)(void *context), void *context);

#endif
