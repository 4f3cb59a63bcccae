// SPDX-License-Identifier: MIT
// Whole packets become one packet that holds them compressed. Called by out.c. Flusher context, or any single
// thread. The rule: memory is taken when it is opened and never again.
#ifndef PFT_COMPRESS_H
#define PFT_COMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/session.h"

struct pft_compressor;

// For up to `bytes_max` bytes at a time, as `how` says, which is not PFT_COMPRESS_OFF. Memory is the arena's.
// NULL when there is none.
struct pft_compressor *pft_compressor_open(enum pft_compress how, size_t bytes_max, struct pft_arena *arena);

// The packet that holds what `bytes` hold, and its size. It is valid until the next one. 0 where it would not
// be smaller.
size_t pft_compressor_pack(
	struct pft_compressor *compressor, const uint8_t *bytes, size_t size, const uint8_t **packet);

#endif
