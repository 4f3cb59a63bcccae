// SPDX-License-Identifier: MIT
// The way into the trace file: packets are built in a buffer and written whole, by raw system calls. Called
// by the packet writers, json.c and trace.c. Flusher context. The rule: the buffer holds whole packets (or
// events of JSON) only, and a write that fails leaves the file cut where the last whole write ended.
#ifndef PFT_OUT_H
#define PFT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"

// The largest packet, its tag and length included. Whoever builds packets bounds the texts in them.
#define PFT_OUT_PACKET_MAX (64u << 10)

// What is written at once is no larger.
#define PFT_OUT_WRITE_MAX (PFT_OUT_PACKET_MAX + 64)

struct pft_compressor;

struct pft_out {
	uint8_t *start, *next, *limit; // the buffer, and where the next packet goes
	uint64_t bytes; // in the file, without an ending
	uint64_t waiting; // events in the buffer: what a thread has recorded
	uint64_t lost; // events that came to nothing after an error
	struct pft_compressor *compressor; // of packets, or NULL
	const char *ending; // what follows every write until the next, or NULL
	uint64_t ending_bytes; // at the file's end that the next write takes off
	int fd;
	int error; // the first -errno; everything after it is dropped
	bool told;
};

#define PFT_OUT_NOWHERE (-1) // as `fd`: what is written goes nowhere, and that is no error

// `fd` stays the caller's. 0 or -ENOMEM.
int pft_out_open(struct pft_out *out, int fd, struct pft_arena *arena);

// From here on packets are written compressed, as many in one as are written at once. It stays the caller's.
// Not for a file with an ending.
void pft_out_compress(struct pft_out *out, struct pft_compressor *compressor);

// From here on the file ends in `text`, which stays the caller's, after every write; NULL: it ends as it is.
// The file must be a regular one, as the next write takes the text off again.
void pft_out_set_ending(struct pft_out *out, const char *text);

// Writes what is buffered. All that was written since `bytes` said `bytes` is an ending now.
void pft_out_end_from(struct pft_out *out, uint64_t bytes);

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

// The file ends here: what is said from now on goes to `fd`, an empty one. Everything must have been flushed.
void pft_out_turn(struct pft_out *out, int fd);

// Writes everything. The first -errno that writing met, once; else 0.
int pft_out_flush(struct pft_out *out);

#endif
