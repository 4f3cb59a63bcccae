// SPDX-License-Identifier: MIT
// Decompression by zlib: see inflate.h.
#include "encoder/read/inflate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "encoder/read/memory.h"

// The library's own is the recorder's, which has none here.
static void *take_memory(void *unused, uInt count, uInt size)
{
	(void)unused;
	return pft_read_alloc((size_t)count * size);
}

static void give_memory(void *unused, void *memory)
{
	(void)unused;
	free(memory);
}

static int each_piece(
	z_stream *stream, int (*piece)(void *user, const uint8_t *bytes, size_t size), void *user)
{
	static uint8_t room[64 << 10];
	int state = Z_OK, error = 0;

	while (!error && state == Z_OK) {
		stream->next_out = room;
		stream->avail_out = sizeof room;
		state = inflate(stream, Z_NO_FLUSH);
		if (state != Z_OK && state != Z_STREAM_END)
			return -EINVAL;
		error = piece(user, room, sizeof room - stream->avail_out);
	}
	return error;
}

int pft_inflate(const uint8_t *bytes, size_t size,
	int (*piece)(void *user, const uint8_t *bytes, size_t size), void *user)
{
	// Some versions declare next_in without const.
	z_stream stream = {.next_in = (uint8_t *)(uintptr_t)bytes,
		.avail_in = (uInt)size,
		.zalloc = take_memory,
		.zfree = give_memory};
	int error;

	if (inflateInit(&stream) != Z_OK) {
		fputs("pft: zlib does not start\n", stderr);
		exit(1);
	}
	error = each_piece(&stream, piece, user);
	inflateEnd(&stream);
	return error;
}
