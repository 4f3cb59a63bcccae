// SPDX-License-Identifier: MIT
// An arena: memory that is handed out in order and given back all at once or back to a mark. Startup,
// flusher and app context; one owner at a time. It maps its chunks with raw system calls, so it never
// meets the allocator of the program that we live in.
#ifndef PFT_BASE_ARENA_H
#define PFT_BASE_ARENA_H

#include <stddef.h>

struct pft_arena_chunk;

struct pft_arena {
	struct pft_arena_chunk *last; // newest chunk, linked to the older ones
	size_t used; // bytes of the newest chunk that are handed out
};

struct pft_arena_mark {
	struct pft_arena_chunk *last;
	size_t used;
};

// A zeroed arena is an empty one.
#define PFT_ARENA_EMPTY                                                                                      \
	{                                                                                                    \
		0                                                                                            \
	}

// `size` bytes, zeroed, aligned to 16. NULL when the kernel gives no more memory.
void *pft_arena_alloc(struct pft_arena *arena, size_t size);

// A NUL-terminated copy of the first `size` bytes of `text`. NULL when out of memory.
char *pft_arena_copy(struct pft_arena *arena, const char *text, size_t size);

// What was handed out after the mark is given back by the release.
struct pft_arena_mark pft_arena_mark(const struct pft_arena *arena);
void pft_arena_release(struct pft_arena *arena, struct pft_arena_mark mark);

// Gives everything back to the kernel; the arena is empty again.
void pft_arena_free(struct pft_arena *arena);

#endif
