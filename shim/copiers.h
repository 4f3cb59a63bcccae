// SPDX-License-Identifier: MIT
// Objects whose coroutines take turns on one piece of stack: it is copied away and another one's is put in
// its place. A frame record belongs to a place on the stack (hot/frame.h), so a call that is open meanwhile
// finds another call's record when it returns. Pure.
#ifndef PFT_COPIERS_H
#define PFT_COPIERS_H

#include <stdbool.h>

// Whether an object of that name (the last part of its path) is one.
bool pft_copies_stacks(const char *object);

#endif
