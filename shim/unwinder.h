// SPDX-License-Identifier: MIT
// libunwind, which knows how to read unwind tables, opened when stacks are asked for and at no other time. It
// is asked about code, never about a stack: what it says of an address is kept as a rule (hot/rules.h), and
// the walk goes by the rules alone.
#ifndef PFT_UNWINDER_H
#define PFT_UNWINDER_H

#include <stdbool.h>

#include "shim/objects.h"

// Startup: it is wanted.
void pft_unwinder_start(const struct pft_objects *objects);

// Opens it when it is wanted and the C library is ready, once: a line says so when that fails, and calls are
// recorded without stacks. App context, one thread, without the loader's lock.
void pft_unwinder_open(void);

// Whether the object was opened by us, so that its calls are none of the program's.
bool pft_unwinder_owns(const struct pft_object *object);

#endif
