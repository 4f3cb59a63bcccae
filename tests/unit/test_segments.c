// SPDX-License-Identifier: MIT
// Unit tests of traces in several files: encoder/trace.c, json.c and replay.c where one file ends and the
// next begins. Each file is read alone by another reader. Run by Criterion.
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/complete.h"
#include "encoder/replay.h"
#include "encoder/session.h"
#include "encoder/trace.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/reader.h"

#define START UINT64_C(1000000000)

static const struct pft_clocks start_clocks = {
	.boot_ns = START, .monotonic_ns = START - 100, .real_ns = UINT64_C(1700000000000000000)};
static const struct pft_totals no_totals;

static struct pft_session *session;
static struct pft_trace *trace;
static struct pft_track *thread;
static struct pft_replay *replay;
static struct pft_fake_ring ring;
static uint32_t hook, other;
static int first, second, json_first, json_second;

static void set_up(void)
{
	session = pft_fake_session(4096, 4);
	session->segment_bytes = 1000;
	session->segments.number = 1;
	hook = pft_fake_hook(session, "libz.so.1", "inflate");
	other = pft_fake_hook(session, "libc.so.6", "read");
	first = pft_reader_file();
	second = pft_reader_file();
	json_first = pft_reader_file();
	json_second = pft_reader_file();
}

TestSuite(segments, .init = set_up);

static void open_trace(void)
{
	trace = pft_trace_open(session, first, start_clocks, 0);
	cr_assert_not_null(trace);
	thread = pft_trace_thread(trace, 4321, "worker");
}

static void turn(uint64_t from_ns)
{
	pft_trace_totals(trace, no_totals);
	cr_assert_eq(pft_trace_flush(trace), 0);
	pft_trace_turn(trace, second, json_second, from_ns);
}

static void close_trace(void)
{
	cr_assert_eq(pft_trace_close(trace, no_totals), 0);
}

static void check(const struct pft_reader_lines *lines, size_t index, const char *text)
{
	cr_assert(pft_reader_says(lines, index, text), "no %s in %s", text,
		index < lines->count ? lines->line[index] : "so many lines");
}

// ---- the trace --------------------------------------------------------------------------------------

Test(segments, show_a_slice_that_spans_two_open_in_the_first_and_continued_in_the_second)
{
	const struct pft_reader_lines *lines;

	open_trace();
	pft_trace_begin(thread, START + 10, hook, 0);
	turn(START + 50);
	pft_trace_continue(thread, START + 10, hook, 0);
	pft_trace_end(thread, START + 70, 0);
	close_trace();
	lines = pft_reader_slices(first);
	cr_assert_eq(lines->count, 1);
	check(lines, 0, "\"ts\": 1000000010, \"dur\": null");
	lines = pft_reader_slices(second);
	cr_assert_eq(lines->count, 1);
	check(lines, 0, "\"ts\": 1000000050, \"dur\": 20");
	check(lines, 0, "\"continued_ns\": 40");
	check(lines, 0, "\"name\": \"libz.so.1::inflate\"");
	check(lines, 0, "\"categories\": [\"libz.so.1\"]");
	check(lines, 0, "\"tid\": 4321, \"thread\": \"worker\"");
	check(lines, 0, "\"process\": \"program\"");
}

Test(segments, begin_with_the_name_that_a_thread_has_by_then)
{
	open_trace();
	pft_trace_name(thread, "renamed");
	turn(START);
	pft_trace_begin(thread, START + 1, hook, 0);
	close_trace();
	check(pft_reader_slices(second), 0, "\"thread\": \"renamed\"");
}

Test(segments, show_nothing_earlier_than_they_begin)
{
	const struct pft_reader_lines *lines;

	open_trace();
	turn(START + 50);
	pft_trace_begin(thread, START + 20, hook, 0);
	pft_trace_instant(thread, START + 30, "instant", "category");
	pft_trace_end(thread, START + 40, 0);
	close_trace();
	lines = pft_reader_slices(second);
	check(lines, 0, "\"ts\": 1000000050, \"dur\": 0");
	check(lines, 0, "\"began_earlier_ns\": 30");
	check(lines, 1, "\"ts\": 1000000050");
}

Test(segments, define_stacks_and_annotations_of_their_own)
{
	uint32_t mapping = pft_fake_mapping(session, "/usr/lib/libx.so", 0x10000);
	uint32_t stack = pft_fake_frame(session, mapping, 0x10100, 0);
	const struct pft_reader_lines *lines;

	open_trace();
	pft_trace_begin(thread, START + 1, hook, stack);
	pft_trace_begin(thread, START + 2, other, stack);
	pft_trace_end_unwound(thread, START + 3);
	turn(START + 5);
	pft_trace_continue(thread, START + 1, hook, stack);
	pft_trace_begin(thread, START + 6, other, stack);
	pft_trace_end_unwound(thread, START + 7);
	pft_trace_end(thread, START + 8, stack);
	close_trace();
	lines = pft_reader_slices(second);
	cr_assert_eq(lines->count, 2);
	check(lines, 1, "\"unwound\": true");
	check(lines, 0, "\"dur\": 3");
}

Test(segments, describe_a_coroutine_whose_thread_has_ended)
{
	const struct pft_reader_lines *lines;
	struct pft_track *fiber;

	open_trace();
	fiber = pft_trace_fiber(thread, "coroutine 1");
	pft_trace_begin(fiber, START + 1, hook, 0);
	pft_trace_retire(thread);
	turn(START + 5);
	pft_trace_continue(fiber, START + 1, hook, 0);
	pft_trace_end(fiber, START + 9, 0);
	close_trace();
	lines = pft_reader_slices(second);
	cr_assert_eq(lines->count, 1);
	check(lines, 0, "\"tid\": 4321");
	check(lines, 0, "\"ts\": 1000000005, \"dur\": 4");
}

Test(segments, know_no_thread_that_ended_before)
{
	const Pft__Proto__Trace *packets;

	open_trace();
	pft_trace_retire(thread);
	turn(START);
	close_trace();
	packets = pft_reader_packets(second);
	for (size_t i = 0; i < packets->n_packet; i++)
		cr_assert(!packets->packet[i]->track_descriptor ||
			  !packets->packet[i]->track_descriptor->thread);
}

static void append(int to, int from)
{
	char bytes[4096];
	ssize_t size;

	for (off_t at = 0; (size = pread(from, bytes, sizeof bytes, at)) > 0; at += size) {
		cr_assert_geq(lseek(to, 0, SEEK_END), 0);
		cr_assert_eq(write(to, bytes, (size_t)size), size);
	}
}

// Clocks of one sequence must not go back where files are read as one.
Test(segments, are_read_whole_when_they_are_joined)
{
	open_trace();
	pft_trace_begin(thread, START + 100, hook, 0);
	pft_trace_end(thread, START + 200, 0);
	turn(START + 50);
	pft_trace_begin(thread, START + 300, hook, 0);
	pft_trace_end(thread, START + 400, 0);
	close_trace();
	append(first, second);
	cr_assert_eq(pft_reader_slices(first)->count, 2);
}

// ---- JSON -------------------------------------------------------------------------------------------

Test(segments, are_each_whole_json)
{
	const struct pft_reader_lines *lines;

	open_trace();
	cr_assert_eq(pft_trace_json(trace, json_first), 0);
	thread = pft_trace_thread(trace, 77, "speaks json");
	pft_trace_begin(thread, START + 10, hook, 0);
	pft_trace_begin(thread, START + 10, other, 0);
	pft_trace_end(thread, START + 12, 0); // is held back behind its parent
	turn(START + 50);
	pft_trace_continue(thread, START + 10, hook, 0);
	pft_trace_end(thread, START + 70, 0);
	close_trace();
	lines = pft_reader_chrome(json_first);
	cr_assert_eq(lines->count, 2);
	check(lines, 0, "\"ph\": \"B\", \"name\": \"libz.so.1::inflate\", \"ts\": 1000000010");
	check(lines, 1, "\"dur\": 2");
	lines = pft_reader_chrome(json_second);
	cr_assert_eq(lines->count, 1);
	check(lines, 0, "\"ts\": 1000000050");
	check(lines, 0, "\"continued_ns\": 40");
	check(lines, 0, "\"dur\": 20");
	cr_assert_eq(pft_reader_slices(second)->count, 1);
}

// ---- the replay -------------------------------------------------------------------------------------

static void now_is(uint64_t ns)
{
	pft_replay_clocks(replay, session->start_ticks + ns, pft_fake_clocks(session, ns));
}

static void start_replay(void)
{
	ring = pft_fake_ring(session, 0, 100, "recorder", 0);
	replay = pft_replay_open(session, first, pft_fake_clocks(session, 0));
	cr_assert_not_null(replay);
	now_is(0);
}

static void drain(uint64_t ns)
{
	now_is(ns);
	pft_replay_drain(replay, 0, ring.head, false);
	pft_replay_pass(replay, false);
	cr_assert_eq(pft_replay_commit(replay), 0);
}

static void turn_replay(void)
{
	cr_assert_eq(pft_replay_turn(replay, 2, second, -1), 0);
}

static void close_replay(struct pft_totals *totals)
{
	pft_fake_exit(&ring, 900000);
	pft_replay_end(replay, 0);
	cr_assert_eq(pft_replay_close(replay, totals), 0);
	cr_assert_eq(totals->produced, totals->written + totals->filtered + totals->dropped);
}

// The last value of a number among the attributes of a file.
static int64_t attribute(int fd, const char *key)
{
	const Pft__Proto__Trace *packets = pft_reader_packets(fd);
	int64_t value = -1;

	for (size_t i = 0; i < packets->n_packet; i++) {
		const Pft__Proto__TraceAttributes *attributes = packets->packet[i]->trace_attributes;

		for (size_t j = 0; attributes && j < attributes->n_attribute; j++)
			if (strcmp(attributes->attribute[j]->key, key) == 0)
				value = attributes->attribute[j]->long_value;
	}
	return value;
}

Test(segments, hold_what_was_drained_in_between_and_say_how_much)
{
	const struct pft_reader_lines *lines;
	struct pft_totals totals;

	start_replay();
	pft_fake_begin(&ring, 1000, hook);
	pft_fake_begin(&ring, 2000, other);
	pft_fake_end(&ring, 3000);
	drain(5000);
	turn_replay();
	pft_fake_begin(&ring, 7000, other);
	pft_fake_end(&ring, 8000);
	pft_fake_end(&ring, 9000);
	drain(10000);
	close_replay(&totals);
	cr_assert_eq(totals.written, 6);
	cr_assert_eq(attribute(first, "pftshim.produced"), 3);
	cr_assert_eq(attribute(first, "pftshim.segment"), 1);
	cr_assert_eq(attribute(first, "pftshim.segment_written"), 3);
	cr_assert_eq(attribute(second, "pftshim.produced"), 6);
	cr_assert_eq(attribute(second, "pftshim.segment"), 2);
	cr_assert_eq(attribute(second, "pftshim.segment_written"), 3);
	cr_assert_eq(pft_reader_slices(first)->count, 3); // with the begin of the thread
	lines = pft_reader_slices(second);
	cr_assert_eq(lines->count, 3);
	check(lines, 0, "\"ts\": 1000005000, \"dur\": 4000");
	check(lines, 0, "\"continued_ns\": 4000");
	check(lines, 1, "\"parent\": \"libz.so.1::inflate\"");
}

Test(segments, begin_calls_that_a_filter_held_back_where_they_are_written)
{
	struct pft_totals totals;

	session->min_duration_ns = 3000;
	start_replay();
	pft_fake_begin(&ring, 1000, hook);
	pft_fake_begin(&ring, 4500, other);
	drain(5000);
	turn_replay();
	pft_fake_end(&ring, 8500);
	pft_fake_end(&ring, 9000);
	drain(10000);
	close_replay(&totals);
	cr_assert_eq(totals.written, 4);
	cr_assert_eq(attribute(first, "pftshim.filtered"), 1);
	check(pft_reader_slices(second), 0, "\"continued_ns\": 4000");
	check(pft_reader_slices(second), 1, "\"ts\": 1000005000, \"dur\": 3500");
	check(pft_reader_slices(second), 1, "\"began_earlier_ns\": 500");
}

Test(segments, continue_calls_on_stacks_that_are_no_threads_own)
{
	const struct pft_reader_lines *lines;
	struct pft_totals totals;

	start_replay();
	pft_fake_foreign_begin(&ring, 1000, hook, 0x70000800);
	pft_fake_foreign_begin(&ring, 2000, other, 0x70000400); // is written when it ends
	drain(5000);
	turn_replay();
	pft_fake_foreign_end(&ring, 7000, 0x70000400);
	pft_fake_foreign_end(&ring, 8000, 0x70000800);
	drain(10000);
	close_replay(&totals);
	cr_assert_eq(totals.written, 4);
	cr_assert_eq(pft_reader_slices(first)->count, 2);
	lines = pft_reader_slices(second);
	check(lines, 0, "\"continued_ns\": 4000");
	check(lines, 0, "\"dur\": 3000");
	check(lines, 1, "\"began_earlier_ns\": 3000");
	check(lines, 1, "\"dur\": 2000");
	check(lines, 1, "\"parent\": \"libz.so.1::inflate\"");
}

Test(segments, are_not_begun_when_the_one_before_cannot_be_completed)
{
	session->segments.written_before = 7;
	ring = pft_fake_ring(session, 0, 100, "recorder", 0);
	replay = pft_replay_open(
		session, open("/dev/full", O_WRONLY | O_CLOEXEC), pft_fake_clocks(session, 0));
	cr_assert_not_null(replay);
	now_is(0);
	cr_assert_eq(pft_replay_turn(replay, 2, second, -1), -ENOSPC);
	cr_assert_eq(pft_replay_turn(replay, 2, second, -1), -EIO);
	cr_assert_eq(session->segments.number, 1);
	cr_assert_eq(session->segments.written_before, 7);
}

// ---- a kill -----------------------------------------------------------------------------------------

Test(segments, are_recovered_in_the_one_that_the_last_commit_speaks_of)
{
	struct pft_session *dead = pft_fake_session(4096, 4);
	struct pft_completed completed;
	struct stat before, after;

	start_replay();
	pft_fake_begin(&ring, 1000, hook);
	drain(5000);
	turn_replay();
	pft_fake_begin(&ring, 7000, other);
	pft_fake_end(&ring, 8000);
	pft_fake_end(&ring, 9000);
	memcpy(dead, session, session->bytes);
	dead->segments = (struct pft_segments){.number = 3}; // had another been begun, and not committed
	cr_assert_eq(pft_session_commit(dead, dead->generation)->segments.number, 2);
	cr_assert_eq(fstat(first, &before), 0);
	cr_assert_eq(pft_complete(dead, second, -1, &completed), 0);
	cr_assert_eq(fstat(first, &after), 0);
	cr_assert_eq(before.st_size, after.st_size);
	cr_assert_eq(completed.totals.written, 4);
	cr_assert_eq(attribute(second, "pftshim.segment"), 2);
	cr_assert_eq(attribute(second, "pftshim.segment_written"), 3);
	check(pft_reader_slices(second), 0, "\"ts\": 1000005000, \"dur\": 4000");
}
