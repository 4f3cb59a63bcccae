// SPDX-License-Identifier: MIT
// Compression by zlib and libzstd: see compress.h. Each packet is a stream of its own: a trace that was cut
// behind one of them is whole. The fast levels: the flusher has to keep up with the program, and what better
// ones gain is little where names are interned already.
#define ZSTD_STATIC_LINKING_ONLY // memory of the caller's, and how much is needed
#include "encoder/compress.h"

#include <stdbool.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "encoder/varint.h"

#define DEFLATE_LEVEL 3
#define ZSTD_LEVEL 1

// What a packet costs in itself, and less than it is worth to look at.
#define BYTES_MIN 128

// The tag of Trace.packet with its size, and that of the field with its own: `compressed_packets` and
// `zstd_compressed_packets`.
#define HEAD_MAX 16
enum { TRACE_PACKET_TAG = 1 << 3 | 2, DEFLATE_TAG = 50 << 3 | 2, ZSTD_TAG = 133 << 3 | 2 };

struct pft_compressor {
	enum pft_compress how;
	struct pft_arena *arena; // for zlib, while it is opened
	z_stream deflate;
	ZSTD_CCtx *zstd;
	size_t bytes_max, room;
	uint8_t *packet; // HEAD_MAX bytes, and room
};

// ---- zlib -------------------------------------------------------------------------------------------

static void *take_memory(void *arena, uInt count, uInt size)
{
	return pft_arena_alloc(arena, (size_t)count * size);
}

static void keep_memory(void *arena, void *memory)
{
	(void)arena; // its owner gives it back
	(void)memory;
}

static bool open_deflate(struct pft_compressor *compressor)
{
	z_stream *deflate = &compressor->deflate;

	*deflate = (z_stream){.zalloc = take_memory, .zfree = keep_memory, .opaque = compressor->arena};
	if (deflateInit(deflate, DEFLATE_LEVEL) != Z_OK)
		return false;
	compressor->room = deflateBound(deflate, compressor->bytes_max);
	return true;
}

static size_t pack_deflate(struct pft_compressor *compressor, const uint8_t *bytes, size_t size)
{
	z_stream *deflate_to = &compressor->deflate;

	deflateReset(deflate_to);
	deflate_to->next_in = (uint8_t *)(uintptr_t)bytes; // some versions declare it without const
	deflate_to->avail_in = (uInt)size;
	deflate_to->next_out = compressor->packet + HEAD_MAX;
	deflate_to->avail_out = (uInt)compressor->room;
	if (deflate(deflate_to, Z_FINISH) != Z_STREAM_END)
		return 0;
	return compressor->room - deflate_to->avail_out;
}

// ---- libzstd ----------------------------------------------------------------------------------------

// The library calls these where somebody defines them. The program that we live in may, and means its own
// copy.
unsigned long long ZSTD_trace_compress_begin(const ZSTD_CCtx *zstd);
void ZSTD_trace_compress_end(unsigned long long begun, const void *what);

unsigned long long ZSTD_trace_compress_begin(const ZSTD_CCtx *zstd)
{
	(void)zstd;
	return 0; // no trace is wanted
}

void ZSTD_trace_compress_end(unsigned long long begun, const void *what)
{
	(void)begun;
	(void)what;
}

// Given one by one: the level alone would let it choose anew by each input's size, and need other memory.
static bool set_parameters(ZSTD_CCtx *zstd, const ZSTD_compressionParameters *parameters)
{
	const struct {
		ZSTD_cParameter parameter;
		unsigned value;
	} list[] = {{ZSTD_c_windowLog, parameters->windowLog}, {ZSTD_c_chainLog, parameters->chainLog},
		{ZSTD_c_hashLog, parameters->hashLog}, {ZSTD_c_searchLog, parameters->searchLog},
		{ZSTD_c_minMatch, parameters->minMatch}, {ZSTD_c_targetLength, parameters->targetLength},
		{ZSTD_c_strategy, parameters->strategy}};
	bool good = true;

	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		good &= !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, list[i].parameter, (int)list[i].value));
	return good;
}

static bool open_zstd(struct pft_compressor *compressor)
{
	ZSTD_compressionParameters parameters = ZSTD_getCParams(ZSTD_LEVEL, compressor->bytes_max, 0);
	size_t size = ZSTD_estimateCCtxSize_usingCParams(parameters);
	void *memory = ZSTD_isError(size) ? NULL : pft_arena_alloc(compressor->arena, size);

	compressor->zstd = memory ? ZSTD_initStaticCCtx(memory, size) : NULL;
	compressor->room = ZSTD_compressBound(compressor->bytes_max);
	return compressor->zstd && set_parameters(compressor->zstd, &parameters);
}

static size_t pack_zstd(const struct pft_compressor *compressor, const uint8_t *bytes, size_t size)
{
	size_t packed = ZSTD_compress2(
		compressor->zstd, compressor->packet + HEAD_MAX, compressor->room, bytes, size);

	return ZSTD_isError(packed) ? 0 : packed;
}

// ---- packets ----------------------------------------------------------------------------------------

struct pft_compressor *pft_compressor_open(enum pft_compress how, size_t bytes_max, struct pft_arena *arena)
{
	struct pft_compressor *compressor = pft_arena_alloc(arena, sizeof *compressor);

	if (!compressor)
		return NULL;
	*compressor = (struct pft_compressor){.how = how, .arena = arena, .bytes_max = bytes_max};
	if (!(how == PFT_COMPRESS_ZSTD ? open_zstd(compressor) : open_deflate(compressor)))
		return NULL;
	compressor->packet = pft_arena_alloc(arena, HEAD_MAX + compressor->room);
	return compressor->packet ? compressor : NULL;
}

// In front of what is compressed. Where the packet begins.
static uint8_t *put_head(const struct pft_compressor *compressor, size_t packed)
{
	uint8_t field[HEAD_MAX], head[HEAD_MAX], *next;
	size_t field_size, head_size;

	next = pft_varint_put(field, compressor->how == PFT_COMPRESS_ZSTD ? ZSTD_TAG : DEFLATE_TAG);
	field_size = (size_t)(pft_varint_put(next, packed) - field);
	head[0] = TRACE_PACKET_TAG;
	head_size = (size_t)(pft_varint_put(head + 1, field_size + packed) - head);
	next = compressor->packet + HEAD_MAX - field_size;
	memcpy(next, field, field_size);
	next -= head_size;
	memcpy(next, head, head_size);
	return next;
}

size_t pft_compressor_pack(
	struct pft_compressor *compressor, const uint8_t *bytes, size_t size, const uint8_t **packet)
{
	size_t packed;

	if (size < BYTES_MIN || size > compressor->bytes_max)
		return 0;
	packed = compressor->how == PFT_COMPRESS_ZSTD ? pack_zstd(compressor, bytes, size)
						      : pack_deflate(compressor, bytes, size);
	if (packed == 0)
		return 0;
	*packet = put_head(compressor, packed);
	packed = (size_t)(compressor->packet + HEAD_MAX + packed - *packet);
	return packed < size ? packed : 0;
}
