// SPDX-License-Identifier: MIT
// A stream of bytes becomes packets: the fields `packet` of the message Trace. Called by packets.c for a file
// and for what was compressed in one. The rule: memory follows the largest packet, and only as its bytes
// come.
#ifndef PFT_READ_SPLIT_H
#define PFT_READ_SPLIT_H

#include <stddef.h>
#include <stdint.h>

struct pft_split {
	uint8_t *buffer; // what came of a packet that is not whole yet
	size_t used, room;
};

// Larger packets are taken for a mistake.
#define PFT_SPLIT_PACKET_MAX ((size_t)256 << 20)

// Takes `size` bytes more and calls `packet` for each that is whole now. 0; -EINVAL where no packet can
// begin; or the first other value that `packet` answered.
int pft_split_push(struct pft_split *split, const uint8_t *bytes, size_t size,
	int (*packet)(void *user, const uint8_t *bytes, size_t size), void *user);

// Whether the stream ended inside a packet.
static inline int pft_split_is_cut(const struct pft_split *split)
{
	return split->used != 0;
}

void pft_split_free(struct pft_split *split);

#endif
