// SPDX-License-Identifier: MIT
// Unit tests of encoder/compress.c, and of how out.c and trace.c use it. Run by Criterion. What is packed is
// unpacked by the readers' way into the libraries.
#include "encoder/compress.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/out.h"
#include "encoder/read/packets.h"
#include "encoder/read/reader.h"
#include "encoder/recover/whole.h"
#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define BYTES_MAX 65600

static const enum pft_compress ways[] = {PFT_COMPRESS_DEFLATE, PFT_COMPRESS_ZSTD};
static const uint32_t fields[] = {50, 133};

static struct pft_arena arena;
static uint8_t plain[BYTES_MAX];

// Packets of `payload` bytes, as many as fit into so many; noise cannot be compressed.
static size_t fill(size_t size, size_t payload, bool noise)
{
	size_t at = 0;

	for (; at + payload + 3 <= size; at += payload) {
		plain[at++] = 0x0a;
		plain[at++] = (uint8_t)(0x80 | (payload & 0x7f));
		plain[at++] = (uint8_t)(payload >> 7);
		for (size_t i = 0; i < payload; i++)
			plain[at + i] = (uint8_t)(noise ? (size_t)rand() : at >> 8);
	}
	return at;
}

// ---- unpacking --------------------------------------------------------------------------------------

static struct {
	uint8_t bytes[BYTES_MAX];
	size_t size;
	unsigned compressed;
	uint32_t field;
	struct pft_packets_in packets;
} unpacked;

static enum pft_packet_answer take(void *user, const uint8_t *bytes, size_t size)
{
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	struct pft_wire_field field;

	(void)user;
	if (!unpacked.packets.inside && pft_wire_next(&wire, &field) &&
		pft_packet_is_compressed(field.number)) {
		unpacked.compressed++;
		unpacked.field = field.number;
		return pft_packets_unpack(&unpacked.packets, &field);
	}
	unpacked.bytes[unpacked.size++] = 0x0a;
	unpacked.bytes[unpacked.size++] = (uint8_t)(0x80 | (size & 0x7f));
	unpacked.bytes[unpacked.size++] = (uint8_t)(size >> 7);
	memcpy(unpacked.bytes + unpacked.size, bytes, size);
	unpacked.size += size;
	return PFT_PACKET_TAKEN;
}

static void unpack(int fd)
{
	const char *wrong;

	memset(&unpacked, 0, sizeof unpacked);
	unpacked.packets.function = take;
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	wrong = pft_packets_read(&unpacked.packets, fd);
	cr_assert_null(wrong, "%s", wrong);
}

// ---- packing ----------------------------------------------------------------------------------------

Test(compress, makes_one_packet_that_holds_the_others)
{
	for (unsigned way = 0; way < 2; way++) {
		struct pft_compressor *compressor = pft_compressor_open(ways[way], BYTES_MAX, &arena);

		cr_assert_not_null(compressor);
		for (size_t size = 200; size <= BYTES_MAX;
			size = size < BYTES_MAX ? (3 * size < BYTES_MAX ? 3 * size : BYTES_MAX) : size + 1) {
			size_t filled = fill(size, 150, false);
			const uint8_t *packet;
			size_t packed = pft_compressor_pack(compressor, plain, filled, &packet);
			int fd = pft_reader_file();

			cr_assert(packed > 0 && packed < filled, "%zu of %zu", packed, filled);
			cr_assert_eq(write(fd, packet, packed), (ssize_t)packed);
			unpack(fd);
			cr_assert_eq(unpacked.compressed, 1);
			cr_assert_eq(unpacked.field, fields[way]);
			cr_assert_eq(unpacked.size, filled);
			cr_assert_eq(memcmp(unpacked.bytes, plain, filled), 0);
			close(fd);
		}
	}
}

Test(compress, leaves_what_would_not_become_smaller)
{
	for (unsigned way = 0; way < 2; way++) {
		struct pft_compressor *compressor = pft_compressor_open(ways[way], BYTES_MAX, &arena);
		const uint8_t *packet;

		cr_assert_eq(pft_compressor_pack(compressor, plain, fill(BYTES_MAX, 8000, true), &packet), 0);
		cr_assert_eq(pft_compressor_pack(compressor, plain, fill(100, 50, false), &packet), 0);
		cr_assert_gt(
			pft_compressor_pack(compressor, plain, fill(BYTES_MAX, 8000, false), &packet), 0);
	}
}

Test(compress, takes_no_memory_after_it_was_opened)
{
	for (unsigned way = 0; way < 2; way++) {
		struct pft_compressor *compressor = pft_compressor_open(ways[way], BYTES_MAX, &arena);
		struct pft_arena_mark mark = pft_arena_mark(&arena);
		const uint8_t *packet;

		for (unsigned i = 0; i < 300; i++)
			pft_compressor_pack(
				compressor, plain, fill(200 * i % BYTES_MAX, 150, i % 3 == 0), &packet);
		cr_assert_eq(pft_arena_mark(&arena).last, mark.last);
		cr_assert_eq(pft_arena_mark(&arena).used, mark.used);
	}
}

// ---- writing ----------------------------------------------------------------------------------------

static void say(struct pft_out *out, const uint8_t *bytes, size_t size)
{
	uint8_t *at = pft_out_reserve(out, size);

	memcpy(at, bytes, size);
	pft_out_commit_event(out, at + size);
}

Test(compress, counts_the_bytes_that_are_in_the_file)
{
	for (unsigned way = 0; way < 2; way++) {
		struct stat found;
		struct pft_out out;
		int fd = pft_reader_file();

		cr_assert_eq(pft_out_open(&out, fd, &arena), 0);
		pft_out_compress(&out, pft_compressor_open(ways[way], PFT_OUT_WRITE_MAX, &arena));
		fill(1000, 100, false);
		for (unsigned i = 0; i < 200; i++) {
			say(&out, plain, 103);
			if (i % 100 == 99)
				cr_assert_eq(pft_out_flush(&out), 0);
			cr_assert_eq(fstat(fd, &found), 0);
			cr_assert_eq((uint64_t)found.st_size, out.bytes);
		}
		cr_assert_eq(out.lost, 0);
		unpack(fd);
		cr_assert_eq(unpacked.compressed, 2, "one for each flush, not %u", unpacked.compressed);
		cr_assert_eq(unpacked.packets.count, 200);
		close(fd);
	}
}

Test(compress, counts_as_lost_what_a_full_disk_does_not_take)
{
	struct pft_out out;
	int fd = open("/dev/full", O_WRONLY);

	cr_assert_eq(pft_out_open(&out, fd, &arena), 0);
	pft_out_compress(&out, pft_compressor_open(PFT_COMPRESS_ZSTD, PFT_OUT_WRITE_MAX, &arena));
	fill(1000, 100, false);
	for (unsigned i = 0; i < 7; i++)
		say(&out, plain, 103);
	cr_assert_eq(pft_out_flush(&out), -ENOSPC);
	cr_assert_eq(out.lost, 7);
	cr_assert_eq(out.bytes, 0);
}

static void ignore(void *user, const struct pft_read_event *event)
{
	(void)user;
	(void)event;
}

static uint64_t events_in(int fd)
{
	struct pft_read_result result;

	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	result = pft_read(fd, ignore, NULL);
	cr_assert_null(result.wrong, "%s", result.wrong);
	cr_assert_eq(result.skipped, 0);
	return result.events;
}

Test(compress, a_trace_says_the_same_as_without)
{
	static const struct pft_totals totals = {.produced = 8000, .written = 8000};
	uint64_t sizes[3];

	for (uint32_t way = PFT_COMPRESS_OFF; way <= PFT_COMPRESS_ZSTD; way++) {
		struct pft_session *session = pft_fake_session(4096, 1);
		uint32_t hook = pft_fake_hook(session, "object", "f");
		int fd = pft_reader_file();
		struct pft_trace *trace;
		struct pft_track *track;
		struct stat found;

		session->compress = way;
		trace = pft_trace_open(session, fd, pft_fake_clocks(session, 0), 0);
		track = pft_trace_thread(trace, 43, "thread");
		for (unsigned i = 0; i < 4000; i++) {
			pft_trace_begin(track, session->boot_ns + 2 * i, hook, 0);
			pft_trace_end(track, session->boot_ns + 2 * i + 1, 0);
			if (i % 1000 == 999)
				cr_assert_eq(pft_trace_flush(trace), 0);
		}
		cr_assert_eq(pft_trace_flush(trace), 0);
		cr_assert_eq(fstat(fd, &found), 0);
		cr_assert_eq(pft_trace_bytes(trace), (uint64_t)found.st_size);
		cr_assert_eq(pft_trace_close(trace, totals), 0);
		cr_assert_eq(fstat(fd, &found), 0);
		cr_assert_eq(pft_whole_find(fd, (uint64_t)found.st_size).rest, PFT_REST_NONE);
		sizes[way] = (uint64_t)found.st_size;
		cr_assert_eq(events_in(fd), 8000);
	}
	cr_assert_lt(4 * sizes[PFT_COMPRESS_DEFLATE], sizes[PFT_COMPRESS_OFF]);
	cr_assert_lt(4 * sizes[PFT_COMPRESS_ZSTD], sizes[PFT_COMPRESS_OFF]);
}
