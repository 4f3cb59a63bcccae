// SPDX-License-Identifier: MIT
// Buffered writing: see sink.h.
#include "encoder/merge/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/read/memory.h"

#define ROOM ((size_t)1 << 20)

struct pft_sink pft_sink_open(int fd)
{
	return (struct pft_sink){.fd = fd, .buffer = pft_read_alloc(ROOM), .room = ROOM};
}

static void write_all(struct pft_sink *sink)
{
	for (size_t at = 0; at < sink->used && !sink->error;) {
		ssize_t count = write(sink->fd, sink->buffer + at, sink->used - at);

		if (count >= 0)
			at += (size_t)count;
		else if (errno != EINTR)
			sink->error = -errno;
	}
	sink->used = 0;
}

void pft_sink_drain(struct pft_sink *sink, size_t size)
{
	write_all(sink);
	if (size <= sink->room)
		return;
	sink->buffer = pft_read_resize(sink->buffer, size);
	sink->room = size;
}

void pft_sink_put(struct pft_sink *sink, const void *bytes, size_t size)
{
	memcpy(pft_sink_reserve(sink, size), bytes, size);
	pft_sink_commit(sink, size);
}

int pft_sink_close(struct pft_sink *sink)
{
	write_all(sink);
	free(sink->buffer);
	sink->buffer = NULL;
	return sink->error;
}
