// SPDX-License-Identifier: MIT
// The trampoline's names for C. Startup and hot context.
#ifndef PFT_TRAMPOLINE_H
#define PFT_TRAMPOLINE_H

#include <stdint.h>

#include "encoder/session.h"

// Thunk `id` lies at pft_thunks + 16 * id: what a diverted slot holds.
extern char pft_thunks[] __attribute__((visibility("hidden")));

// Where diverted calls return to.
extern char pft_return[] __attribute__((visibility("hidden")));

// The function that hook `id` diverts; for a lazy slot the way into the loader's resolver, which replaces it.
extern void *pft_originals[PFT_HOOKS_MAX] __attribute__((visibility("hidden")));

static inline void *pft_thunk(uint32_t id)
{
	return pft_thunks + (uint64_t)16 * id;
}

#endif
