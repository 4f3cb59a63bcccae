// SPDX-License-Identifier: MIT
// Arrays in an arena that grow by doubling. Called by names.c and intern.c. Flusher context. The old copy
// stays in the arena until the arena is freed, so the waste is bounded by the size of the newest copy.
#ifndef PFT_ARRAY_H
#define PFT_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"

// A copy of `array` (of `*room` elements of `size` bytes) with room for index `last`, the rest zeroed;
// `*room` is raised. NULL, and nothing changed, when out of memory.
void *pft_array_grow(struct pft_arena *arena, const void *array, uint32_t *room, uint32_t last, size_t size);

#endif
