// SPDX-License-Identifier: MIT
// What a packet holds compressed (`zstd_compressed_packets`, frames of RFC 8878), handed on piece by piece: a
// packet of a few bytes may hold gigabytes.
#ifndef PFT_READ_UNZSTD_H
#define PFT_READ_UNZSTD_H

#include <stddef.h>
#include <stdint.h>

// As pft_inflate. -EINVAL also where reading it would take more than 8 MiB of memory, which the RFC asks no
// writer to expect of a reader.
int pft_unpack_zstd(const uint8_t *bytes, size_t size,
	int (*piece)(void *user, const uint8_t *bytes, size_t size), void *user);

#endif
