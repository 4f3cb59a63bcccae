// SPDX-License-Identifier: MIT
// Memory or the end: see memory.h.
#include "encoder/read/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory)
{
	if (memory)
		return memory;
	fputs("pft: out of memory\n", stderr);
	exit(1);
}

void *pft_read_alloc(size_t size)
{
	return need(calloc(1, size ? size : 1));
}

void *pft_read_resize(void *old, size_t size)
{
	return need(realloc(old, size ? size : 1));
}

char *pft_read_copy(const void *bytes, size_t size)
{
	char *copy = pft_read_alloc(size + 1);

	if (size)
		memcpy(copy, bytes, size);
	return copy;
}
