// SPDX-License-Identifier: MIT
// Memory of the programs that read traces. They hold nothing that a lack of memory could harm, so it ends
// them: one line, status 1.
#ifndef PFT_READ_MEMORY_H
#define PFT_READ_MEMORY_H

#include <stddef.h>

// `size` bytes, zeroed; free() gives them back.
void *pft_read_alloc(size_t size);

// `old` (or NULL) with room for `size` bytes.
void *pft_read_resize(void *old, size_t size);

// A NUL-terminated copy of `size` bytes, up to the first NUL in them.
char *pft_read_copy(const void *bytes, size_t size);

#endif
