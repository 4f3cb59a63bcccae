// SPDX-License-Identifier: MIT
// Unit tests of encoder/read/: traces of the encoder, traces built by hand, and files that are none. Run by
// Criterion.
#include "encoder/read/reader.h"

#include <criterion/criterion.h>
#include <endian.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define START UINT64_C(1000000000)

// ---- what the reader says, as lines -----------------------------------------------------------------

static char said[1 << 20];
static size_t said_bytes;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	said_bytes += (size_t)vsnprintf(said + said_bytes, sizeof said - said_bytes, format, arguments);
	va_end(arguments);
	cr_assert_lt(said_bytes, sizeof said);
}

static void say_args(const struct pft_read_event *event)
{
	for (size_t i = 0; i < event->arg_count; i++) {
		const struct pft_arg *arg = &event->args[i];

		if (arg->kind <= PFT_ARG_NUMBER)
			say(" %s=%s%s", arg->name, arg->kind == PFT_ARG_TEXT ? "'" : "", arg->text);
		else
			say(" %s=%d:%lld", arg->name, (int)arg->kind, (long long)arg->number);
	}
	for (size_t i = 0; i < event->flow_count; i++)
		say(" flow %llx", (unsigned long long)event->flows[i]);
	for (size_t i = 0; i < event->ending_flow_count; i++)
		say(" last flow %llx", (unsigned long long)event->ending_flows[i]);
}

static void listen(void *user, const struct pft_read_event *event)
{
	static const char *const kinds[] = {
		"track", "begin", "end", "instant", "counter", "lost", "attribute"};
	const struct pft_read_track *owner = pft_read_owner(event->track);

	(void)user;
	say("%s", kinds[event->kind]);
	if (event->kind == PFT_READ_TRACK)
		say(" %d %s of %u/%llu", (int)event->track->kind,
			event->track->name ? event->track->name : "-", owner ? owner->pid : 0,
			owner ? (unsigned long long)owner->tid : 0);
	else if (event->kind != PFT_READ_ATTRIBUTE)
		say(" @%llu", (unsigned long long)event->ns);
	if (event->name)
		say(" %s", event->name);
	if (event->category)
		say(" (%s)", event->category);
	if (event->kind == PFT_READ_LOST)
		say(" %llu", (unsigned long long)event->lost);
	say_args(event);
	say("\n");
}

static struct pft_read_result read_file(int fd)
{
	said_bytes = 0;
	said[0] = '\0';
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	return pft_read(fd, listen, NULL);
}

// ---- traces by hand ---------------------------------------------------------------------------------

struct message {
	uint8_t bytes[8192];
	size_t size;
};

static void put_varint(struct message *message, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		message->bytes[message->size++] = (uint8_t)(value | 0x80);
	message->bytes[message->size++] = (uint8_t)value;
}

static void put(struct message *message, uint32_t field, uint64_t value)
{
	put_varint(message, field << 3);
	put_varint(message, value);
}

static void put_fixed(struct message *message, uint32_t field, uint64_t value)
{
	put_varint(message, field << 3 | 1);
	memcpy(message->bytes + message->size, &value, 8);
	message->size += 8;
}

static void put_bytes(struct message *message, uint32_t field, const void *bytes, size_t size)
{
	put_varint(message, field << 3 | 2);
	put_varint(message, size);
	memcpy(message->bytes + message->size, bytes, size);
	message->size += size;
}

static void put_text(struct message *message, uint32_t field, const char *text)
{
	put_bytes(message, field, text, strlen(text));
}

static void put_message(struct message *message, uint32_t field, const struct message *inner)
{
	put_bytes(message, field, inner->bytes, inner->size);
}

static void put_double(struct message *message, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	put_fixed(message, field, bits);
}

static struct message trace;

static void add_packet(const struct message *packet)
{
	put_message(&trace, 1, packet);
}

// A thread's track, uuid 5, and sequence 1, whose state is started.
static void start_by_hand(void)
{
	struct message thread = {.size = 0}, track = {.size = 0}, packet = {.size = 0};

	trace.size = 0;
	put(&thread, 1, 10);
	put(&thread, 2, 11);
	put_text(&thread, 5, "worker");
	put(&track, 1, 5);
	put_message(&track, 4, &thread);
	put(&packet, 10, 1);
	put(&packet, 13, 1);
	put_message(&packet, 60, &track);
	add_packet(&packet);
}

static void add_event(uint64_t ns, const struct message *event)
{
	struct message packet = {.size = 0};

	put(&packet, 8, ns);
	put(&packet, 10, 1);
	put(&packet, 13, 2);
	put_message(&packet, 11, event);
	add_packet(&packet);
}

static void add_interned(uint32_t field, uint64_t iid, const char *text)
{
	struct message entry = {.size = 0}, data = {.size = 0}, packet = {.size = 0};

	put(&entry, 1, iid);
	put_text(&entry, 2, text);
	put_message(&data, field, &entry);
	put(&packet, 10, 1);
	put(&packet, 13, 2);
	put_message(&packet, 12, &data);
	add_packet(&packet);
}

static struct message begin_of(const char *name)
{
	struct message event = {.size = 0};

	put(&event, 9, 1);
	put(&event, 11, 5);
	put_text(&event, 23, name);
	return event;
}

static int file_of(const void *bytes, size_t size)
{
	int fd = pft_reader_file();

	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	return fd;
}

static struct pft_read_result read_trace(void)
{
	int fd = file_of(trace.bytes, trace.size);
	struct pft_read_result result = read_file(fd);

	close(fd);
	return result;
}

#define THREAD "track 2 worker of 10/11\n"

static void says(const char *text)
{
	struct pft_read_result result = read_trace();

	cr_assert_null(result.wrong, "%s", result.wrong);
	cr_assert_str_eq(said, text);
}

TestSuite(reader, .init = start_by_hand);

// ---- the encoder's traces ---------------------------------------------------------------------------

static int encoded(void)
{
	static const struct pft_clocks clocks = {
		.boot_ns = START, .monotonic_ns = START - 100, .real_ns = UINT64_C(1700000000000000000)};
	static const struct pft_totals totals = {.produced = 9, .written = 8, .filtered = 1};
	struct pft_session *session = pft_fake_session(4096, 4);
	uint32_t hook = pft_fake_hook(session, "libz.so.1", "inflate");
	int fd = pft_reader_file();
	struct pft_trace *written;
	struct pft_track *thread, *fiber;

	session->pid = 42;
	written = pft_trace_open(session, fd, clocks, 0);
	thread = pft_trace_thread(written, 43, "worker");
	pft_trace_instant(thread, START, "thread begin", "thread");
	pft_trace_begin(thread, START + 1, hook, 0);
	fiber = pft_trace_fiber(thread, "coroutine 1");
	pft_trace_begin(fiber, START + 3, hook, 0);
	pft_trace_end_unwound(thread, START + 2);
	pft_trace_end(fiber, START + 4, 0);
	pft_trace_gap(thread, START + 6, 77);
	pft_trace_begin(thread, START + 7, hook, 0);
	cr_assert_eq(pft_trace_close(written, totals), 0);
	return fd;
}

Test(reader, reads_what_the_encoder_writes)
{
	struct pft_read_result result = read_file(encoded());

	cr_assert_null(result.wrong);
	cr_assert_eq(result.skipped, 0);
	cr_assert_eq(result.events, 6);
	cr_assert_not_null(strstr(said, "track 1 program of 42/0\n"));
	cr_assert_not_null(strstr(said, "track 2 worker of 42/43\n"
					"instant @1000000000 thread begin (thread)\n"
					"begin @1000000001 libz.so.1::inflate (libz.so.1)\n"
					"track 4 coroutine 1 of 42/43\n"
					"begin @1000000003 libz.so.1::inflate (libz.so.1)\n"
					"end @1000000002 unwound=4:1\n"
					"end @1000000004\n"
					"lost @1000000006 77\n"
					"begin @1000000007 libz.so.1::inflate (libz.so.1)\n"));
	cr_assert_not_null(strstr(said, "attribute pftshim.produced pftshim.produced=3:9\n"));
	cr_assert_not_null(strstr(said, "attribute pftshim.mode pftshim.mode='dev\n"));
}

Test(reader, says_of_every_cut_that_it_is_one)
{
	uint8_t whole[8192];
	int fd = encoded();
	ssize_t size = pread(fd, whole, sizeof whole, 0);
	size_t ends = 0;

	cr_assert_lt(size, (ssize_t)sizeof whole);
	for (size_t cut = 0; cut < (size_t)size; cut++) {
		int part = file_of(whole, cut);
		struct pft_read_result result = read_file(part);

		close(part);
		ends += result.wrong == NULL; // between two packets
		cr_assert(result.wrong == NULL || strstr(result.wrong, "empty") ||
			  strstr(result.wrong, "middle") || strstr(result.wrong, "no Perfetto trace"));
	}
	cr_assert_geq(ends, 10);
	cr_assert_leq(ends, 30);
}

// ---- events -----------------------------------------------------------------------------------------

Test(reader, resolves_interned_names_until_the_state_is_cleared)
{
	struct message event = {.size = 0}, cleared = {.size = 0};

	add_interned(2, 1, "read");
	add_interned(1, 7, "io");
	add_interned(1, 8, "sys");
	put(&event, 9, 1);
	put(&event, 10, 1);
	put(&event, 11, 5);
	put_bytes(&event, 3, "\x07\x08", 2);
	put_text(&event, 22, "own");
	add_event(100, &event);
	put(&cleared, 10, 1);
	put(&cleared, 13, 1);
	add_packet(&cleared);
	add_event(200, &event);
	says(THREAD "begin @100 read (io,sys,own)\nbegin @200 (own)\n");
}

Test(reader, skips_events_that_rely_on_a_state_that_was_lost)
{
	struct message event = begin_of("a"), dropped = {.size = 0};

	put(&dropped, 10, 1);
	put(&dropped, 42, 1);
	add_packet(&dropped);
	add_event(100, &event);
	cr_assert_eq(read_trace().skipped, 1);
	cr_assert_str_eq(said, THREAD);
}

Test(reader, skips_events_without_time_or_track)
{
	struct message event = begin_of("a"), lost = {.size = 0}, packet = {.size = 0};

	put(&packet, 10, 1);
	put_message(&packet, 11, &event);
	add_packet(&packet);
	packet.size = 0;
	put(&packet, 10, 1);
	put(&packet, 8, 5);
	put(&packet, 58, 64); // a clock that nobody explained
	put_message(&packet, 11, &event);
	add_packet(&packet);
	put(&lost, 9, 1);
	add_event(100, &lost);
	cr_assert_eq(read_trace().skipped, 3);
	cr_assert_str_eq(said, THREAD);
}

static void put_clock(
	struct message *snapshot, uint32_t id, uint64_t timestamp, bool incremental, uint64_t unit)
{
	struct message clock = {.size = 0};

	put(&clock, 1, id);
	put(&clock, 2, timestamp);
	put(&clock, 3, incremental);
	if (unit)
		put(&clock, 4, unit);
	put_message(snapshot, 1, &clock);
}

static void add_by_clock(uint64_t timestamp, uint32_t clock, const char *name)
{
	struct message event = begin_of(name), packet = {.size = 0};

	put(&packet, 10, 1);
	put(&packet, 8, timestamp);
	put(&packet, 58, clock);
	put_message(&packet, 11, &event);
	add_packet(&packet);
}

Test(reader, converts_clocks)
{
	struct message snapshot = {.size = 0}, later = {.size = 0}, packet = {.size = 0};

	put_clock(&snapshot, 6, 5000, false, 0);
	put_clock(&snapshot, 3, 4000, false, 0);
	put_clock(&snapshot, 64, 1, true, 1000);
	put(&packet, 10, 1);
	put_message(&packet, 6, &snapshot);
	add_packet(&packet);
	add_by_clock(7, 6, "boot");
	add_by_clock(4001, 3, "monotonic");
	add_by_clock(2, 64, "two us on");
	add_by_clock(1, 64, "three us on");
	put_clock(&later, 3, 9000, false, 0); // BOOTTIME is known by way of MONOTONIC
	put_clock(&later, 65, 100, false, 0);
	packet.size = 0;
	put(&packet, 10, 1);
	put_message(&packet, 6, &later);
	add_packet(&packet);
	add_by_clock(101, 65, "absolute");
	says(THREAD "begin @7 boot\nbegin @5001 monotonic\nbegin @7000 two us on\nbegin @8000 three us on\n"
		    "begin @10001 absolute\n");
}

Test(reader, types_and_names_args)
{
	struct message event = begin_of("a"), arg = {.size = 0}, inner = {.size = 0}, value = {.size = 0};

	add_interned(3, 1, "size");
	add_interned(29, 2, "a text");
	put(&arg, 1, 1);
	put(&arg, 3, UINT64_MAX);
	put_message(&event, 4, &arg);
	arg.size = 0;
	put_text(&arg, 10, "t");
	put(&arg, 17, 2);
	put_message(&event, 4, &arg);
	arg.size = 0;
	put_text(&arg, 10, "d");
	put_double(&arg, 5, 0.5);
	put_message(&event, 4, &arg);
	arg.size = 0;
	put_text(&arg, 10, "nan");
	put_double(&arg, 5, -__builtin_inf());
	put_message(&event, 4, &arg);
	arg.size = 0;
	put_text(&inner, 10, "x");
	put(&inner, 4, (uint64_t)-3);
	put_text(&arg, 10, "outer");
	put_message(&arg, 11, &inner);
	inner.size = 0;
	put_text(&inner, 10, "list");
	put(&value, 7, 0x10);
	put_message(&inner, 12, &value);
	put_message(&inner, 12, &value);
	put_message(&arg, 11, &inner);
	put_message(&event, 4, &arg);
	add_event(1, &event);
	says(THREAD "begin @1 a size=2:-1 t='a text d=0.5 nan='-inf outer.x=3:-3 outer.list[0]=5:16 "
		    "outer.list[1]=5:16\n");
}

Test(reader, reads_counters_and_flows)
{
	struct message counter = {.size = 0}, event = begin_of("a");
	const uint64_t packed[] = {3, 4};

	put(&counter, 9, 4);
	put(&counter, 11, 5);
	put(&counter, 30, (uint64_t)-7);
	add_event(1, &counter);
	counter.size = 0;
	put(&counter, 9, 4);
	put(&counter, 11, 5);
	put_double(&counter, 44, 1e300);
	add_event(2, &counter);
	put_fixed(&event, 47, 1);
	put_fixed(&event, 48, 2);
	put_bytes(&event, 47, packed, sizeof packed);
	add_event(3, &event);
	says(THREAD "counter @1 worker value=3:-7\ncounter @2 worker value=1.0000000000000001e+300\n"
		    "begin @3 a flow 1 flow 3 flow 4 last flow 2\n");
}

Test(reader, is_not_led_round_by_tracks_that_are_their_own_parents)
{
	struct message track = {.size = 0}, packet = {.size = 0};

	put(&track, 1, 8);
	put(&track, 5, 9);
	put_message(&packet, 60, &track);
	add_packet(&packet);
	track.size = packet.size = 0;
	put(&track, 1, 9);
	put(&track, 5, 8);
	put_message(&packet, 60, &track);
	add_packet(&packet);
	says(THREAD "track 4 - of 0/0\ntrack 4 - of 0/0\n");
}

// ---- compression ------------------------------------------------------------------------------------

static void compress_trace(void)
{
	uint8_t room[8192] = {0x78, 1, 1}, *at = room + 3; // one block, stored (RFC 1950, 1951)
	uint16_t size = (uint16_t)trace.size, not_size = (uint16_t)~size;
	uint32_t sum = htobe32((uint32_t)adler32(1, trace.bytes, size));
	struct message packet = {.size = 0};

	at = mempcpy(at, &size, 2);
	at = mempcpy(at, &not_size, 2);
	at = mempcpy(at, trace.bytes, size);
	at = mempcpy(at, &sum, 4);
	put_bytes(&packet, 50, room, (size_t)(at - room));
	trace.size = 0;
	add_packet(&packet);
}

static void put_zstd(const uint8_t *bytes, size_t size)
{
	struct message packet = {.size = 0};

	put_bytes(&packet, 133, bytes, size);
	add_packet(&packet);
}

// An empty frame, one of a single raw block (RFC 8878) of the trace so far, and half of a third one.
static uint8_t frames[4096];
static const size_t empty_frame = 9;

static size_t frame_trace(void)
{
	static const uint8_t head[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0, 0x28, 0xb5, 0x2f, 0xfd, 0x60};
	uint8_t *at = frames + sizeof head;
	uint32_t block = (uint32_t)trace.size << 3 | 1;

	memcpy(frames, head, sizeof head);
	*at++ = (uint8_t)(trace.size - 256);
	*at++ = (uint8_t)((trace.size - 256) >> 8);
	memcpy(at, &block, 3);
	memcpy(at + 3, trace.bytes, trace.size);
	return (size_t)(at + 3 + trace.size - frames);
}

Test(reader, reads_compressed_packets)
{
	struct message event = begin_of("a");

	add_event(1, &event);
	compress_trace();
	add_event(2, &event);
	says(THREAD "begin @1 a\nbegin @2 a\n");
}

Test(reader, reads_packets_that_zstd_compressed)
{
	struct message event = begin_of("a");
	size_t size;

	while (trace.size < 256) // which the frame's size needs
		add_event(1, &event);
	size = frame_trace();
	start_by_hand();
	put_zstd(frames, size);
	cr_assert_null(read_trace().wrong, "%s", read_trace().wrong);
	cr_assert_gt(read_trace().events, 5);
}

Test(reader, refuses_what_zstd_did_not_compress)
{
	struct message event = begin_of("a");
	size_t size;

	while (trace.size < 256)
		add_event(1, &event);
	size = frame_trace();
	for (size_t cut = 0; cut < size; cut++) {
		start_by_hand();
		put_zstd(frames, cut);
		cr_assert_eq(read_trace().wrong != NULL, cut != empty_frame, "cut at %zu", cut);
	}
	start_by_hand();
	frames[size] = 0;
	put_zstd(frames, size + 1);
	cr_assert_not_null(read_trace().wrong);
}

// A window of 16 MiB, which is its memory as well.
Test(reader, refuses_what_would_take_much_memory)
{
	static const uint8_t large[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 14 << 3, 1, 0, 0};
	static const uint8_t small[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3, 1, 0, 0};
	struct message event = begin_of("a");

	add_event(1, &event);
	put_zstd(small, sizeof small);
	cr_assert_null(read_trace().wrong, "%s", read_trace().wrong);
	put_zstd(large, sizeof large);
	cr_assert_not_null(strstr(read_trace().wrong, "compressed"));
}

Test(reader, refuses_what_is_compressed_badly_or_twice)
{
	compress_trace();
	compress_trace();
	cr_assert_not_null(strstr(read_trace().wrong, "compressed twice"));
	start_by_hand();
	compress_trace();
	trace.bytes[trace.size - 1] ^= 1; // the checksum
	cr_assert_not_null(strstr(read_trace().wrong, "compressed"));
	start_by_hand();
	trace.size--;
	trace.bytes[1]--;
	compress_trace();
	cr_assert_not_null(read_trace().wrong);
}

// ---- files that are none ----------------------------------------------------------------------------

static const char *wrong_with(const char *bytes, size_t size)
{
	int fd = file_of(bytes, size);
	struct pft_read_result result = read_file(fd);

	close(fd);
	return result.wrong;
}

Test(reader, says_what_is_wrong_with_a_file)
{
	cr_assert_str_eq(wrong_with("", 0), "is empty");
	cr_assert_str_eq(wrong_with("{\"traceEvents\":[]}", 18), "is no Perfetto trace");
	cr_assert_str_eq(
		wrong_with("\x0a\xff\xff\xff\xff\x7f", 6), "is no Perfetto trace"); // too large a packet
	cr_assert_str_eq(wrong_with("\x0a\x02\x08", 3), "is no Perfetto trace");
	cr_assert_str_eq(wrong_with("\x0a\x02\x08\x01\x0a", 5), "ends in the middle of a packet");
	cr_assert_str_eq(
		wrong_with("\x0a\x02\x08\x01xyz", 7), "is damaged: something in it is no packet of a trace");
	cr_assert_str_eq(pft_read(open("/", O_RDONLY | O_CLOEXEC), listen, NULL).wrong, "is a directory");
}

// Whatever bytes are changed, cut or doubled: it ends, and inside of its memory (make asan).
Test(reader, survives_what_nobody_wrote)
{
	uint8_t whole[16384];
	int fd = encoded();
	size_t size = (size_t)pread(fd, whole, 8192, 0);
	uint32_t chance = 1;

	for (int round = 0; round < 3000; round++) {
		uint8_t changed[16384];
		size_t cut = size;
		int part;

		memcpy(changed, whole, size);
		for (int i = 0; i <= round % 5; i++) {
			chance = chance * 1664525 + 1013904223;
			changed[(chance >> 8) % size] = (uint8_t)(chance >> 24);
		}
		if (round % 7 == 0)
			cut = (chance >> 4) % size;
		part = file_of(changed, cut);
		read_file(part);
		close(part);
	}
}
