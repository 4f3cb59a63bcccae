// SPDX-License-Identifier: MIT
// Where a merged trace or archive goes: a file, written in large pieces. Called by join.c, tar.c and merge.c.
// Errors are kept: after the first one nothing more is written.
#ifndef PFT_MERGE_SINK_H
#define PFT_MERGE_SINK_H

#include <stddef.h>
#include <stdint.h>

struct pft_sink {
	int fd;
	int error; // -errno, or 0
	uint8_t *buffer;
	size_t used, room;
};

struct pft_sink pft_sink_open(int fd);

// Makes room for `size` bytes by writing what is buffered.
void pft_sink_drain(struct pft_sink *sink, size_t size);

// Room for `size` bytes; those that are used are then told to pft_sink_commit.
static inline uint8_t *pft_sink_reserve(struct pft_sink *sink, size_t size)
{
	if (__builtin_expect(sink->room - sink->used < size, 0))
		pft_sink_drain(sink, size);
	return sink->buffer + sink->used;
}

static inline void pft_sink_commit(struct pft_sink *sink, size_t size)
{
	sink->used += size;
}

void pft_sink_put(struct pft_sink *sink, const void *bytes, size_t size);

// Writes everything and frees the buffer; the file stays open. The first -errno, or 0.
int pft_sink_close(struct pft_sink *sink);

#endif
