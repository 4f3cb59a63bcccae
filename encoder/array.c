// SPDX-License-Identifier: MIT
// Growing arrays: see array.h. Called where a table meets an index that it has no room for. Flusher context.
#include "encoder/array.h"

#include <string.h>

#define ROOM_MIN 64u

void *pft_array_grow(struct pft_arena *arena, const void *array, uint32_t *room, uint32_t last, size_t size)
{
	uint32_t wanted = *room ? *room : ROOM_MIN;
	void *grown;

	while (wanted <= last)
		wanted *= 2;
	grown = pft_arena_alloc(arena, wanted * size);
	if (!grown)
		return NULL;
	if (*room)
		memcpy(grown, array, *room * size);
	*room = wanted;
	return grown;
}
