// SPDX-License-Identifier: MIT
// The way into the trace file: packets are built in a buffer and written whole, by raw system calls. Called
// by the packet writers and trace.c. Flusher context. The rule: the buffer holds whole packets only, and a
// write that fails leaves the file cut where the last whole write ended.
#ifndef PFT_OUT_H
#define PFT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"

// The largest packet, its tag and length included. Whoever builds packets bounds the texts in them.
#define PFT_OUT_PACKET_MAX (64u << 10)

struct pft_out {
	uint8_t *start, *next, *limit; // the buffer, and where the next packet goes
	uint64_t bytes; // in the file
	uint64_t waiting; // events in the buffer
	uint64_t lost; // events that came to nothing after an error
	int fd;
	int error; // the first -errno; everything after it is dropped
	bool told;
};

// `fd` stays the caller's. 0 or -ENOMEM.
int pft_out_open(struct pft_out *out, int fd, struct pft_arena *arena);

// Makes room by writing what is buffered.
void pft_out_drain(struct pft_out *out);

// Room for one packet of up to `size` bytes.
static inline uint8_t *pft_out_reserve(struct pft_out *out, size_t size)
{
	if (__builtin_expect((size_t)(out->limit - out->next) < size, 0))
		pft_out_drain(out);
	return out->next;
}

// The packet that was built in the reserved room ends at `end`.
static inline void pft_out_commit(struct pft_out *out, uint8_t *end)
{
	out->next = end;
}

// As commit, for a packet that is an event.
static inline void pft_out_commit_event(struct pft_out *out, uint8_t *end)
{
	out->next = end;
	out->waiting++;
}

// Writes everything. The first -errno that writing met, once; else 0.
int pft_out_flush(struct pft_out *out);

#endif
