// SPDX-License-Identifier: MIT
// The packets of a trace file, one after the other. Called by reader.c, and by programs that handle packets
// as they are. The rule: what nobody vouches for ends in a phrase, and memory follows the largest packet.
#ifndef PFT_READ_PACKETS_H
#define PFT_READ_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/read/wire.h"

// What a pft_packet_function answers.
enum pft_packet_answer {
	PFT_PACKET_TAKEN = 0,
	PFT_PACKET_HOLDS_OTHERS, // which were taken
	PFT_PACKET_ENOUGH, // nothing more is wanted
	PFT_PACKET_DAMAGED, // this is no packet
	PFT_PACKET_BAD_COMPRESSION,
	PFT_PACKET_NESTED_COMPRESSION,
};

// Fields of TracePacket that hold other packets, by how they are compressed.
enum { PFT_PACKET_DEFLATED = 50, PFT_PACKET_ZSTD = 133 };

static inline bool pft_packet_is_compressed(uint32_t field)
{
	return field == PFT_PACKET_DEFLATED || field == PFT_PACKET_ZSTD;
}

typedef enum pft_packet_answer pft_packet_function(void *user, const uint8_t *bytes, size_t size);

struct pft_packets_in {
	pft_packet_function *function; // called for each packet; its bytes are valid during the call
	void *user;
	uint64_t count; // packets that were taken; those that hold others are not counted
	uint64_t cut_bytes; // of a last packet that is not whole
	bool inside; // of compressed packets
};

// Reads the file open at `fd` from its present offset up to its end, or until the function has enough. What
// is wrong with it, as a phrase, or NULL. A last packet that is not whole is left to the caller, unless it is
// all that there is.
const char *pft_packets_read(struct pft_packets_in *packets, int fd);

// For the function, where a packet holds others in such a field: calls it for each of those. What to answer.
enum pft_packet_answer pft_packets_unpack(
	struct pft_packets_in *packets, const struct pft_wire_field *compressed);

#endif
