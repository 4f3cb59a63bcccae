// SPDX-License-Identifier: MIT
// Which tree of processes this one belongs to, where no process of it is known that records. Startup context.
#ifndef PFT_FAMILY_H
#define PFT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

// What the tree's execution is called: each process of the tree finds the same name by itself. The tree is
// those of our ancestors, one above the other, whose programs were started with our LD_PRELOAD, as it stands
// in `environment`, and all below the topmost one. False when that cannot be told.
bool pft_family_execution(char *name, size_t size, char *const *environment);

#endif
