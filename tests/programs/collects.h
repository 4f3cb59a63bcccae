// SPDX-License-Identifier: MIT
// A garbage collector: libcollects.c.
#ifndef PFT_TESTS_COLLECTS_H
#define PFT_TESTS_COLLECTS_H

#include <stdint.h>

// The complement of the object's address; the object is filled.
uintptr_t collects_hidden(void);
void GC_gcollect(void);

#endif
