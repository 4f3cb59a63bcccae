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

#define PFT_THUNK_BYTES 16

static inline void *pft_thunk(uint32_t id)
{
	return pft_thunks + (uint64_t)PFT_THUNK_BYTES * id;
}

// The hook whose thunk this is; PFT_HOOK_NONE when it is no thunk.
static inline uint32_t pft_thunk_id(const void *thunk)
{
	uint64_t offset = (uintptr_t)thunk - (uintptr_t)pft_thunks;

	return offset < (uint64_t)PFT_THUNK_BYTES * PFT_HOOKS_MAX ? (uint32_t)(offset / PFT_THUNK_BYTES)
								  : PFT_HOOK_NONE;
}

#endif
