// SPDX-License-Identifier: MIT
// Memory in chunks straight from the kernel, handed out front to back. Startup, app and flusher context.
// The rule: what is handed out reads zero. Fresh pages do; pages that a release gave back are cleared when
// the release happens, so that an allocation never has to know where its bytes come from.
#include "encoder/base/arena.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"

#define CHUNK_BYTES ((size_t)64 << 10)
#define ALIGNMENT ((size_t)16)
#define PAGE_BYTES ((size_t)4096)

struct pft_arena_chunk {
	struct pft_arena_chunk *older;
	size_t bytes; // of the mapping, this header included
};

_Static_assert(sizeof(struct pft_arena_chunk) % ALIGNMENT == 0, "what follows the header is aligned");

static size_t round_up(size_t size, size_t unit)
{
	return (size + unit - 1) & ~(unit - 1);
}

static int chunk_push(struct pft_arena *arena, size_t size)
{
	size_t bytes = round_up(sizeof(struct pft_arena_chunk) + size, PAGE_BYTES);
	struct pft_arena_chunk *chunk;

	if (bytes < CHUNK_BYTES)
		bytes = CHUNK_BYTES;
	chunk = pft_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pft_sys_failed(chunk))
		return (int)(intptr_t)chunk;
	chunk->older = arena->last;
	chunk->bytes = bytes;
	arena->last = chunk;
	arena->used = sizeof *chunk;
	return 0;
}

static void chunk_pop(struct pft_arena *arena)
{
	struct pft_arena_chunk *chunk = arena->last;

	arena->last = chunk->older;
	pft_sys_munmap(chunk, chunk->bytes);
}

void *pft_arena_alloc(struct pft_arena *arena, size_t size)
{
	void *memory;

	if (size > PTRDIFF_MAX - CHUNK_BYTES)
		return NULL;
	size = round_up(size, ALIGNMENT);
	if (arena->last == NULL || arena->last->bytes - arena->used < size) {
		if (chunk_push(arena, size) != 0)
			return NULL;
	}
	memory = (char *)arena->last + arena->used;
	arena->used += size;
	return memory;
}

char *pft_arena_copy(struct pft_arena *arena, const char *text, size_t size)
{
	char *copy;

	if (size == SIZE_MAX)
		return NULL;
	copy = pft_arena_alloc(arena, size + 1);
	if (copy != NULL)
		memcpy(copy, text, size);
	return copy;
}

struct pft_arena_mark pft_arena_mark(const struct pft_arena *arena)
{
	return (struct pft_arena_mark){.last = arena->last, .used = arena->used};
}

void pft_arena_release(struct pft_arena *arena, struct pft_arena_mark mark)
{
	size_t end = arena->used;

	while (arena->last != NULL && arena->last != mark.last) {
		// What was used of the mark's own chunk is not known any more once a newer one was begun.
		end = arena->last->older != NULL ? arena->last->older->bytes : 0;
		chunk_pop(arena);
	}
	arena->used = mark.used;
	if (arena->last != NULL)
		memset((char *)arena->last + mark.used, 0, end - mark.used);
}

void pft_arena_free(struct pft_arena *arena)
{
	while (arena->last != NULL)
		chunk_pop(arena);
	arena->used = 0;
}
