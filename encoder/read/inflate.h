// SPDX-License-Identifier: MIT
// What a packet holds compressed (`compressed_packets`, zlib's format), handed on piece by piece: a packet of
// a few bytes may hold gigabytes.
#ifndef PFT_READ_INFLATE_H
#define PFT_READ_INFLATE_H

#include <stddef.h>
#include <stdint.h>

// Calls `piece` for each piece of what `bytes` hold. 0; -EINVAL when they are no whole zlib stream; or the
// first other value that `piece` answered.
int pft_inflate(const uint8_t *bytes, size_t size,
	int (*piece)(void *user, const uint8_t *bytes, size_t size), void *user);

#endif
