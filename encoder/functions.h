// SPDX-License-Identifier: MIT
// Names of functions by their addresses, out of the symbol table of an object's file. Called by callstacks.c.
// Flusher context, or `recover`: raw system calls, memory from an arena. Files are read, never mapped: one
// that is cut meanwhile would raise SIGBUS.
#ifndef PFT_FUNCTIONS_H
#define PFT_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"

struct pft_functions;

// The functions of the file at `path`: those of .symtab, or of .dynsym where that is stripped. With a build
// id (of `build_id_bytes` bytes, 0: none) the file must have the same one: else it is not the file that was
// mapped. The list is empty when nothing can be read; NULL when there is no memory. `path` must stay.
struct pft_functions *pft_functions_read(
	const char *path, const uint8_t *build_id, size_t build_id_bytes, struct pft_arena *arena);

// The name of the function at `address`, as the file counts addresses, in memory of `arena`. NULL when it is
// in none that is listed, or the file is not the one any more that was read.
const char *pft_functions_name(
	const struct pft_functions *functions, uint64_t address, struct pft_arena *arena);

#endif
