// SPDX-License-Identifier: MIT
// Decompression by libzstd: see unzstd.h.
#define ZSTD_STATIC_LINKING_ONLY // memory of ours: the library's own is the recorder's, which has none here
#include "encoder/read/unzstd.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "encoder/read/memory.h"

#define WINDOW_LOG_MAX 23

static void *take_memory(void *unused, size_t size)
{
	(void)unused;
	return pft_read_alloc(size);
}

static void give_memory(void *unused, void *memory)
{
	(void)unused;
	free(memory);
}

// All of the input, and whole frames: `left` is what the library still expects of one.
static int each_piece(ZSTD_DCtx *zstd, ZSTD_inBuffer *in,
	int (*piece)(void *user, const uint8_t *bytes, size_t size), void *user)
{
	static uint8_t room[64 << 10];
	size_t left = 1;
	int error = 0;

	while (!error && (in->pos < in->size || left != 0)) {
		ZSTD_outBuffer out = {.dst = room, .size = sizeof room};
		size_t before = in->pos;

		left = ZSTD_decompressStream(zstd, &out, in);
		if (ZSTD_isError(left) || (in->pos == before && out.pos == 0))
			return -EINVAL;
		error = piece(user, room, out.pos);
	}
	return error;
}

int pft_unpack_zstd(const uint8_t *bytes, size_t size,
	int (*piece)(void *user, const uint8_t *bytes, size_t size), void *user)
{
	ZSTD_customMem memory = {take_memory, give_memory, NULL};
	ZSTD_DCtx *zstd = ZSTD_createDCtx_advanced(memory);
	ZSTD_inBuffer in = {.src = bytes, .size = size};
	int error;

	ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	error = each_piece(zstd, &in, piece, user);
	ZSTD_freeDCtx(zstd);
	return error;
}
