// SPDX-License-Identifier: MIT
// Memory within reach of an object's code: x86-64 instructions lead 2 GiB either way. Startup context, or an
// app thread after dlopen.
#ifndef PFT_NEAR_H
#define PFT_NEAR_H

#include <stddef.h>
#include <stdint.h>

// Maps `bytes` (whole pages are given, zeroed and writable), so that a 32-bit displacement leads from each
// byte of [low, high) to each of them. NULL when there is no room. The caller unmaps it.
void *pft_near_map(uintptr_t low, uintptr_t high, size_t bytes);

#endif
