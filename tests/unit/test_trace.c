// SPDX-License-Identifier: MIT
// Unit tests of encoder/trace.c and encoder/sequence.c: whole traces, as another reader reads them. Run by
// Criterion.
#include "encoder/trace.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/session.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define START UINT64_C(1000000000)

static const struct pft_clocks start_clocks = {
	.boot_ns = START, .monotonic_ns = START - 100, .real_ns = UINT64_C(1700000000000000000)};
static const struct pft_totals no_totals;

static struct pft_session *session;
static struct pft_trace *trace;
static struct pft_track *thread;
static uint32_t hook;
static int fd;

static void open_trace(void)
{
	trace = pft_trace_open(session, fd, start_clocks, 0);
	cr_assert_not_null(trace);
}

static void start(void)
{
	session = pft_fake_session(4096, 4);
	hook = pft_fake_hook(session, "libz.so.1", "inflate");
	fd = pft_reader_file();
	open_trace();
	thread = pft_trace_thread(trace, 4321, "worker");
}

TestSuite(trace, .init = start);

static const struct pft_reader_lines *close_and_read(void)
{
	cr_assert_eq(pft_trace_close(trace, no_totals), 0);
	return pft_reader_slices(fd);
}

static off_t file_size(void)
{
	struct stat found;

	cr_assert_eq(fstat(fd, &found), 0);
	return found.st_size;
}

static void call(struct pft_track *track, uint64_t begin_ns, uint64_t end_ns, uint32_t id)
{
	pft_trace_begin(track, begin_ns, id, 0);
	pft_trace_end(track, end_ns, 0);
}

Test(trace, shows_a_call_on_its_thread_at_its_time)
{
	const struct pft_reader_lines *lines;

	call(thread, START + 5, START + 12, hook);
	lines = close_and_read();
	cr_assert_eq(lines->count, 1);
	cr_assert(pft_reader_says(lines, 0, "\"name\": \"libz.so.1::inflate\""));
	cr_assert(pft_reader_says(lines, 0, "\"ts\": 1000000005, \"dur\": 7"));
	cr_assert(pft_reader_says(lines, 0, "\"tid\": 4321, \"thread\": \"worker\""));
	cr_assert(pft_reader_says(lines, 0, "\"process\": \"program\""));
	cr_assert(pft_reader_says(lines, 0, "\"categories\": [\"libz.so.1\"]"));
}

Test(trace, takes_28_bytes_a_call_in_user_mode)
{
	uint64_t before;

	session->mode = 1;
	call(thread, START, START, hook);
	pft_trace_flush(trace);
	before = pft_trace_bytes(trace);
	for (uint64_t i = 0; i < 1000; i++)
		call(thread, START + 20000 * i, START + 20000 * i + 16000, hook);
	pft_trace_flush(trace);
	cr_assert_leq(pft_trace_bytes(trace) - before, 1000 * 28);
}

Test(trace, nests_calls)
{
	uint32_t other = pft_fake_hook(session, "libc.so.6", "read");
	const struct pft_reader_lines *lines;

	pft_trace_begin(thread, START, hook, 0);
	call(thread, START + 1, START + 2, other);
	call(thread, START + 2, START + 3, other);
	cr_assert_eq(pft_trace_depth(thread), 1);
	pft_trace_end(thread, START + 3, 0);
	cr_assert_eq(pft_trace_depth(thread), 0);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	cr_assert(pft_reader_says(lines, 1, "\"depth\": 1"));
	cr_assert(pft_reader_says(lines, 2, "\"parent\": \"libz.so.1::inflate\""));
}

Test(trace, is_whole_after_every_flush)
{
	const struct pft_reader_lines *lines;

	for (uint64_t i = 0; i < 5; i++) {
		pft_trace_begin(thread, START + i, hook, 0);
		cr_assert_eq(pft_trace_flush(trace), 0);
		lines = pft_reader_slices(fd);
		cr_assert_eq(lines->count, i + 1);
		cr_assert(pft_reader_says(lines, i, "\"dur\": null"));
		cr_assert_eq(file_size(), (off_t)pft_trace_bytes(trace));
	}
}

Test(trace, leaves_open_slices_open_at_the_close)
{
	const struct pft_reader_lines *lines;

	pft_trace_begin(thread, START, hook, 0);
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"dur\": null"));
}

Test(trace, caps_the_depth_and_still_pairs_begins_with_ends)
{
	const struct pft_reader_lines *lines;
	uint64_t ns = START;

	for (int i = 0; i < PFT_DEPTH_MAX + 300; i++)
		pft_trace_begin(thread, ns++, hook, 0);
	cr_assert_eq(pft_trace_depth(thread), PFT_DEPTH_MAX);
	for (int i = 0; i < PFT_DEPTH_MAX + 300; i++)
		pft_trace_end(thread, ns++, 0);
	cr_assert_eq(pft_trace_depth(thread), 0);
	call(thread, ns, ns + 1, hook);
	lines = close_and_read();
	cr_assert_eq(lines->count, PFT_DEPTH_MAX + 1);
	cr_assert(pft_reader_says(lines, PFT_DEPTH_MAX, "\"depth\": 0"));
	// The deepest slice in the trace spans the 300 calls that are not.
	cr_assert(pft_reader_says(lines, PFT_DEPTH_MAX - 1, "\"dur\": 601"));
}

Test(trace, ignores_an_end_that_closes_nothing)
{
	pft_trace_end(thread, START, 0);
	call(thread, START + 1, START + 2, hook);
	pft_trace_end_unwound(thread, START + 3);
	cr_assert_eq(close_and_read()->count, 1);
}

Test(trace, marks_what_was_unwound)
{
	const struct pft_reader_lines *lines;

	for (uint64_t i = 0; i < 2; i++) {
		pft_trace_begin(thread, START + 10 * i, hook, 0);
		pft_trace_end_unwound(thread, START + 10 * i + 5);
	}
	call(thread, START + 20, START + 21, hook);
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"args\": {\"unwound\": true}"));
	cr_assert(pft_reader_says(lines, 1, "\"args\": {\"unwound\": true}"));
	cr_assert(pft_reader_says(lines, 1, "\"dur\": 5"));
	cr_assert(pft_reader_says(lines, 2, "\"args\": {}"));
}

Test(trace, shows_instants)
{
	const struct pft_reader_lines *lines;

	pft_trace_instant(thread, START + 3, "thread begin", "pftshim");
	lines = close_and_read();
	cr_assert_eq(lines->count, 1);
	cr_assert(pft_reader_says(
		lines, 0, "\"kind\": \"instant\", \"name\": \"thread begin\", \"ts\": 1000000003"));
	cr_assert(pft_reader_says(lines, 0, "\"categories\": [\"pftshim\"]"));
}

Test(trace, follows_a_thread_s_name)
{
	const struct pft_reader_lines *lines;

	call(thread, START, START + 1, hook);
	pft_trace_name(thread, "renamed");
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"thread\": \"renamed\""));
}

Test(trace, keeps_threads_apart)
{
	struct pft_track *other = pft_trace_thread(trace, 4322, "other");
	const struct pft_reader_lines *lines;

	pft_trace_begin(thread, START, hook, 0);
	pft_trace_begin(other, START + 1, hook, 0);
	pft_trace_end(thread, START + 2, 0);
	pft_trace_end(other, START + 3, 0);
	lines = close_and_read();
	cr_assert_eq(lines->count, 2);
	cr_assert(pft_reader_says(lines, 0, "\"tid\": 4321"));
	cr_assert(pft_reader_says(lines, 1, "\"tid\": 4322"));
	cr_assert(pft_reader_says(lines, 1, "\"depth\": 0"));
}

Test(trace, takes_events_of_fibers_whose_times_run_back)
{
	struct pft_track *fiber = pft_trace_fiber(thread, "coroutine");
	const struct pft_reader_lines *lines;

	call(thread, START + 100, START + 200, hook);
	pft_trace_begin(fiber, START + 50, hook, 0);
	pft_trace_end(fiber, START + 250, 0);
	call(thread, START + 300, START + 400, hook);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	cr_assert(pft_reader_says(lines, 0, "\"ts\": 1000000050, \"dur\": 200"));
	cr_assert(pft_reader_says(lines, 0, "\"track\": \"coroutine\""));
	cr_assert(pft_reader_says(lines, 0, "\"tid\": 4321"));
	cr_assert(pft_reader_says(lines, 1, "\"ts\": 1000000100, \"dur\": 100, \"depth\": 0"));
	cr_assert(pft_reader_says(lines, 2, "\"ts\": 1000000300, \"dur\": 100"));
}

Test(trace, takes_fibers_that_outlive_their_thread_s_track)
{
	struct pft_track *fiber = pft_trace_fiber(thread, "coroutine");
	const struct pft_reader_lines *lines;
	struct pft_track *next[2];

	pft_trace_begin(fiber, START, hook, 0);
	pft_trace_retire(thread);
	pft_trace_end(fiber, START + 3, 0);
	pft_trace_retire(fiber);
	next[0] = pft_trace_thread(trace, 4322, "next");
	next[1] = pft_trace_thread(trace, 4323, "last");
	pft_trace_begin(next[0], START + 5, hook, 0);
	pft_trace_begin(next[1], START + 6, hook, 0);
	pft_trace_end(next[0], START + 7, 0);
	pft_trace_end(next[1], START + 8, 0);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 3"));
	cr_assert(pft_reader_says(lines, 1, "\"tid\": 4322"));
	cr_assert(pft_reader_says(lines, 2, "\"tid\": 4323"));
}

Test(trace, closes_slices_at_a_gap_and_starts_anew)
{
	const struct pft_reader_lines *lines;

	pft_trace_begin(thread, START, hook, 0);
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_end_unwound(thread, START + 1);
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_gap(thread, START + 10, 77);
	cr_assert_eq(pft_trace_depth(thread), 0);
	pft_trace_begin(thread, START + 20, hook, 0);
	pft_trace_end_unwound(thread, START + 30);
	lines = close_and_read();
	cr_assert_eq(lines->count, 4);
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 10"));
	cr_assert(pft_reader_says(lines, 2, "\"dur\": 9"));
	cr_assert(pft_reader_says(lines, 3, "\"ts\": 1000000020, \"dur\": 10, \"depth\": 0"));
}

Test(trace, tells_how_much_a_gap_lost)
{
	const Pft__Proto__Trace *packets;
	uint64_t dropped = 0;

	pft_trace_gap(thread, START + 10, 77);
	pft_trace_flush(trace);
	packets = pft_reader_packets(fd);
	for (size_t i = 0; i < packets->n_packet; i++)
		dropped += packets->packet[i]->previous_packet_dropped;
	cr_assert_eq(dropped, 77);
}

Test(trace, keeps_fibers_whole_over_a_gap_of_their_thread)
{
	struct pft_track *fiber = pft_trace_fiber(thread, "coroutine");
	const struct pft_reader_lines *lines;

	pft_trace_begin(fiber, START, hook, 0);
	pft_trace_gap(thread, START + 10, 1);
	pft_trace_end(fiber, START + 20, 0);
	call(fiber, START + 21, START + 22, hook);
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 20"));
	cr_assert_eq(lines->count, 2);
}

Test(trace, gives_a_sequence_to_the_next_thread_whose_events_may_be_older)
{
	const struct pft_reader_lines *lines;
	struct pft_track *next;

	call(thread, START + 1000, START + 2000, hook);
	pft_trace_retire(thread);
	next = pft_trace_thread(trace, 4322, "next");
	call(next, START + 500, START + 2500, hook);
	call(next, START + 3000, START + 3001, hook);
	cr_assert_eq(pft_trace_sequences(trace), 2);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	cr_assert(pft_reader_says(lines, 0, "\"ts\": 1000000500, \"dur\": 2000"));
	cr_assert(pft_reader_says(lines, 0, "\"tid\": 4322"));
	cr_assert(pft_reader_says(lines, 1, "\"tid\": 4321"));
	cr_assert(pft_reader_says(lines, 2, "\"ts\": 1000003000, \"dur\": 1"));
}

// The viewer's importer refuses a snapshot that goes back: see packet.c.
Test(trace, never_sets_a_sequence_s_clocks_back)
{
	uint64_t last[8] = {0};
	const Pft__Proto__Trace *packets;

	for (uint64_t i = 0; i < 20; i++) {
		call(thread, START + 1000 - 10 * i, START + 1000 - 10 * i, hook);
		pft_trace_retire(thread);
		thread = pft_trace_thread(trace, 5000 + (uint32_t)i, "next");
	}
	pft_trace_gap(thread, START, 1);
	pft_trace_flush(trace);
	packets = pft_reader_packets(fd);
	for (size_t i = 0; i < packets->n_packet; i++) {
		const Pft__Proto__TracePacket *packet = packets->packet[i];

		if (!packet->clock_snapshot)
			continue;
		cr_assert_geq(packet->clock_snapshot->clocks[0]->timestamp,
			last[packet->trusted_packet_sequence_id]);
		last[packet->trusted_packet_sequence_id] = packet->clock_snapshot->clocks[0]->timestamp;
	}
	cr_assert_eq(last[2], START + 1000);
}

Test(trace, snapshots_all_clocks_at_the_first_event_from_the_latest_reading)
{
	struct pft_clocks later = {.boot_ns = START + 500, .monotonic_ns = START + 50, .real_ns = 9000};
	const Pft__Proto__ClockSnapshot *snapshot = NULL;
	const Pft__Proto__Trace *packets;

	pft_trace_clocks(trace, later);
	call(thread, START + 400, START + 700, hook);
	pft_trace_flush(trace);
	packets = pft_reader_packets(fd);
	for (size_t i = 0; i < packets->n_packet; i++)
		if (packets->packet[i]->clock_snapshot)
			snapshot = packets->packet[i]->clock_snapshot;
	cr_assert_eq(snapshot->clocks[0]->timestamp, START + 400);
	cr_assert_eq(snapshot->clocks[1]->timestamp, START - 50);
	cr_assert_eq(snapshot->clocks[2]->timestamp, 8900);
	cr_assert_eq(snapshot->clocks[3]->timestamp, START + 400);
}

Test(trace, takes_pauses_of_years)
{
	const struct pft_reader_lines *lines;

	call(thread, START, START + UINT64_C(100000000000000000), hook);
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 100000000000000000"));
}

static size_t mapped_pages(void)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	size_t pages = 0;

	cr_assert_not_null(statm);
	cr_assert_eq(fscanf(statm, "%zu", &pages), 1);
	fclose(statm);
	return pages;
}

static void short_lives(uint64_t from, uint64_t count)
{
	for (uint64_t i = from; i < from + count; i++) {
		struct pft_track *track = pft_trace_thread(trace, (uint32_t)i, "short");
		struct pft_track *fiber = pft_trace_fiber(track, "coroutine");

		call(track, START + 2 * i, START + 2 * i + 1, hook);
		call(fiber, START + 2 * i, START + 2 * i + 1, hook);
		pft_trace_retire(fiber);
		pft_trace_retire(track);
	}
}

Test(trace, uses_the_memory_and_sequences_of_ended_threads_again)
{
	size_t pages;

	trace = pft_trace_open(session, open("/dev/null", O_WRONLY | O_CLOEXEC), start_clocks, 0);
	cr_assert_not_null(trace);
	short_lives(1, 100);
	pages = mapped_pages();
	short_lives(101, 100000);
	cr_assert_eq(mapped_pages(), pages);
	cr_assert_eq(pft_trace_sequences(trace), 2);
}

Test(trace, continues_a_file_for_recovery_on_the_same_tracks)
{
	uint32_t sequences;
	const struct pft_reader_lines *lines;

	pft_trace_begin(thread, START, hook, 0);
	pft_trace_begin(thread, START + 1, hook, 0);
	sequences = pft_trace_sequences(trace);
	cr_assert_eq(pft_trace_close(trace, no_totals), 0);
	trace = pft_trace_open(session, fd, start_clocks, sequences);
	thread = pft_trace_thread(trace, 4321, "worker");
	pft_trace_resume(thread, START, hook);
	pft_trace_resume(thread, START + 1, hook);
	pft_trace_end(thread, START + 5, 0);
	call(thread, START + 6, START + 7, hook);
	pft_trace_end(thread, START + 9, 0);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	cr_assert(pft_reader_says(lines, 0, "\"dur\": 9"));
	cr_assert(pft_reader_says(lines, 1, "\"dur\": 4"));
	cr_assert(pft_reader_says(lines, 2, "\"depth\": 1"));
}

Test(trace, of_two_processes_joined_in_one_file_is_read_whole)
{
	const struct pft_reader_lines *lines;

	call(thread, START, START + 10, hook);
	cr_assert_eq(pft_trace_close(trace, no_totals), 0);
	session->pid++;
	strcpy(session->process, "child");
	open_trace();
	thread = pft_trace_thread(trace, session->pid, "main");
	call(thread, START - 500, START - 400, hook);
	lines = close_and_read();
	cr_assert_eq(lines->count, 2);
	cr_assert(pft_reader_says(lines, 0, "\"process\": \"child\""));
	cr_assert(pft_reader_says(lines, 1, "\"process\": \"program\""));
}

Test(trace, shows_names_that_are_no_text)
{
	uint32_t odd = pft_fake_hook(session, "l\xff.so", "a\"b\nc\xf0\x9f\x98\x80");
	const struct pft_reader_lines *lines;

	call(thread, START, START + 1, odd);
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"name\": \"l\\ufffd.so::a\\\"b\\nc\\ud83d\\ude00\""));
}

Test(trace, shows_the_wait_for_the_flusher)
{
	const struct pft_reader_lines *lines;

	call(thread, START, START + 1, PFT_HOOK_WAIT);
	lines = close_and_read();
	cr_assert(pft_reader_says(lines, 0, "\"name\": \"pftshim: ring full\""));
	cr_assert(pft_reader_says(lines, 0, "\"categories\": [\"pftshim\"]"));
}

Test(trace, says_once_that_it_cannot_be_written_and_counts_events_as_lost)
{
	trace = pft_trace_open(session, open("/dev/full", O_WRONLY | O_CLOEXEC), start_clocks, 0);
	thread = pft_trace_thread(trace, 4321, "worker");
	call(thread, START, START + 1, hook);
	cr_assert_eq(pft_trace_flush(trace), -ENOSPC);
	call(thread, START + 2, START + 3, hook);
	cr_assert_eq(pft_trace_flush(trace), 0);
	cr_assert_eq(pft_trace_lost(trace), 4);
	cr_assert_eq(pft_trace_bytes(trace), 0);
	cr_assert_eq(pft_trace_close(trace, no_totals), 0);
}
