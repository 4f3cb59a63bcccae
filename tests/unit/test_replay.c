// SPDX-License-Identifier: MIT
// Unit tests of encoder/replay.c, lane.c, calls.c and strands.c: rings in, and out comes a trace that another
// reader reads. check_totals also says that every event is accounted for once. Run by Criterion.
#include "encoder/replay.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/session.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define RING_BYTES 4096
#define SLOT ((uint32_t)sizeof(struct pft_record))

static struct pft_session *session;
static struct pft_replay *replay;
static struct pft_fake_ring ring;
static uint32_t outer, inner, leaf;
static int fd;

static void set_up(void)
{
	session = pft_fake_session(RING_BYTES, 4);
	outer = pft_fake_hook(session, NULL, "outer");
	inner = pft_fake_hook(session, NULL, "inner");
	leaf = pft_fake_hook(session, NULL, "leaf");
	ring = pft_fake_ring(session, 0, 100, "worker", 0);
	fd = pft_reader_file();
}

TestSuite(replay, .init = set_up);

static void now_is(uint64_t ns)
{
	pft_replay_clocks(replay, session->start_ticks + ns, pft_fake_clocks(session, ns));
}

static void start(void)
{
	replay = pft_replay_open(session, fd, pft_fake_clocks(session, 0));
	cr_assert_not_null(replay);
	now_is(0);
}

static void drain(void)
{
	pft_replay_drain(replay, ring.index, ring.head, false);
	pft_replay_pass(replay, true);
}

static void commit(void)
{
	cr_assert_eq(pft_replay_commit(replay), 0);
}

static void finish(uint64_t ns)
{
	drain();
	pft_fake_exit(&ring, ns);
	pft_replay_end(replay, ring.index);
}

static void check_totals(uint64_t written, uint64_t filtered, uint64_t dropped)
{
	struct pft_totals totals = pft_replay_totals(replay);

	cr_assert_eq(totals.written, written, "%lu written", (unsigned long)totals.written);
	cr_assert_eq(totals.filtered, filtered, "%lu filtered", (unsigned long)totals.filtered);
	cr_assert_eq(totals.dropped, dropped, "%lu dropped", (unsigned long)totals.dropped);
	cr_assert_eq(totals.produced, written + filtered + dropped, "%lu produced",
		(unsigned long)totals.produced);
}

static const struct pft_reader_lines *read_trace(void)
{
	cr_assert_eq(pft_replay_close(replay, &(struct pft_totals){0}), 0);
	return pft_reader_slices(fd);
}

// The line of the nth slice or instant called `name`; fails the test when there is none.
static const char *find(const struct pft_reader_lines *lines, const char *name, int nth)
{
	char text[128];

	snprintf(text, sizeof text, "\"name\": \"%s\"", name);
	for (size_t i = 0; i < lines->count; i++)
		if (strstr(lines->line[i], text) && nth-- == 0)
			return lines->line[i];
	cr_assert_fail("the trace has no %s", name);
	return "";
}

static int count(const struct pft_reader_lines *lines, const char *text)
{
	int found = 0;

	for (size_t i = 0; i < lines->count; i++)
		found += strstr(lines->line[i], text) != NULL;
	return found;
}

static void check(const char *line, const char *text)
{
	cr_assert_not_null(strstr(line, text), "%s is not in %s", text, line);
}

// A slice that begins and lasts as given, in nanoseconds after the session's start.
static void check_slice(const char *line, uint64_t begin_ns, uint64_t duration_ns)
{
	char text[128];

	snprintf(text, sizeof text, "\"ts\": %lu, \"dur\": %lu,",
		(unsigned long)(session->boot_ns + begin_ns), (unsigned long)duration_ns);
	check(line, text);
}

static void check_open(const char *line, uint64_t begin_ns)
{
	char text[128];

	snprintf(text, sizeof text, "\"ts\": %lu, \"dur\": null,",
		(unsigned long)(session->boot_ns + begin_ns));
	check(line, text);
}

static int is_unwound(const char *line)
{
	return strstr(line, "\"unwound\": true") != NULL;
}

static uint64_t dropped_in_trace(void)
{
	const Pft__Proto__Trace *packets = pft_reader_packets(fd);
	uint64_t dropped = 0;

	for (size_t i = 0; i < packets->n_packet; i++)
		dropped += packets->packet[i]->previous_packet_dropped;
	return dropped;
}

// The last value of a number among the trace's attributes.
static int64_t attribute(const char *key)
{
	const Pft__Proto__Trace *packets = pft_reader_packets(fd);
	int64_t value = -1;

	for (size_t i = 0; i < packets->n_packet; i++) {
		const Pft__Proto__TraceAttributes *attributes = packets->packet[i]->trace_attributes;

		for (size_t j = 0; attributes != NULL && j < attributes->n_attribute; j++)
			if (strcmp(attributes->attribute[j]->key, key) == 0)
				value = attributes->attribute[j]->long_value;
	}
	return value;
}

// The last description of a thread's track.
static const char *account(int64_t tid)
{
	const Pft__Proto__Trace *packets = pft_reader_packets(fd);
	const char *said = "nothing";

	for (size_t i = 0; i < packets->n_packet; i++) {
		const Pft__Proto__TrackDescriptor *track = packets->packet[i]->track_descriptor;

		if (track != NULL && track->description != NULL && track->thread->tid == tid)
			said = track->description;
	}
	return said;
}

// ---- threads ----------------------------------------------------------------------------------------

Test(replay, tells_nested_calls_on_the_threads_track)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, inner);
	pft_fake_end(&ring, 2500);
	pft_fake_end(&ring, 4000);
	finish(5000);
	check_totals(4, 0, 0);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 3000);
	check_slice(find(lines, "inner", 0), 2000, 500);
	check(find(lines, "inner", 0), "\"parent\": \"outer\"");
	check(find(lines, "inner", 0), "\"tid\": 100, \"thread\": \"worker\"");
}

Test(replay, marks_the_begin_and_the_end_of_a_thread)
{
	const struct pft_reader_lines *lines;

	start();
	ring.thread->begin_ticks += 300;
	finish(7000);
	check_totals(0, 0, 0);
	lines = read_trace();
	check(find(lines, "thread begin", 0), "\"ts\": 1000000300");
	check(find(lines, "thread begin", 0), "\"categories\": [\"thread\"]");
	check(find(lines, "thread end", 0), "\"ts\": 1000007000");
}

Test(replay, serves_one_thread_after_the_other_on_one_entry)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_end(&ring, 2000);
	finish(3000);
	commit();
	ring = pft_fake_ring(session, 0, 101, "second", ring.head);
	pft_fake_begin(&ring, 4000, inner);
	pft_fake_end(&ring, 5000);
	finish(6000);
	check_totals(4, 0, 0);
	lines = read_trace();
	check(find(lines, "outer", 0), "\"tid\": 100");
	check(find(lines, "inner", 0), "\"tid\": 101, \"thread\": \"second\"");
	cr_assert_eq(count(lines, "\"thread end\""), 2);
}

Test(replay, tells_a_thread_that_never_recorded)
{
	start();
	pft_fake_exit(&ring, 500);
	pft_replay_end(replay, 0);
	pft_replay_end(replay, 0);
	cr_assert_eq(count(read_trace(), "\"thread end\""), 1);
}

Test(replay, follows_a_name_that_changes)
{
	const struct pft_reader_lines *lines;

	start();
	drain();
	ring.thread->name_turn = 1;
	strcpy(ring.thread->name, "half writ");
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_end(&ring, 2000);
	drain();
	strcpy(ring.thread->name, "renamed");
	ring.thread->name_turn = 2;
	finish(3000);
	lines = read_trace();
	cr_assert_eq(count(lines, "half"), 0);
	check(find(lines, "outer", 0), "\"thread\": \"renamed\"");
}

Test(replay, starts_a_thread_whose_name_is_being_written)
{
	const struct pft_reader_lines *lines;

	start();
	ring.thread->name_turn = 5;
	drain();
	ring.thread->name_turn = 6;
	finish(3000);
	lines = read_trace();
	check(find(lines, "thread end", 0), "\"thread\": \"worker\"");
}

Test(replay, closes_what_is_open_when_a_thread_ends)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, inner);
	finish(6000);
	check_totals(2, 0, 0);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 5000);
	check_slice(find(lines, "inner", 0), 2000, 4000);
	cr_assert(is_unwound(find(lines, "outer", 0)));
}

Test(replay, leaves_open_what_a_living_thread_has_not_left)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	drain();
	check_totals(1, 0, 0);
	lines = read_trace();
	check_open(find(lines, "outer", 0), 1000);
}

Test(replay, marks_an_unwound_call)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, inner);
	pft_fake_unwound(&ring, 3000);
	pft_fake_end(&ring, 4000);
	finish(5000);
	check_totals(4, 0, 0);
	lines = read_trace();
	cr_assert(is_unwound(find(lines, "inner", 0)));
	cr_assert_not(is_unwound(find(lines, "outer", 0)));
}

Test(replay, shows_waiting_as_a_slice)
{
	start();
	pft_fake_begin(&ring, 1000, PFT_HOOK_WAIT);
	pft_fake_end(&ring, 2000);
	finish(3000);
	check_totals(2, 0, 0);
	cr_assert_eq(count(read_trace(), "\"ts\": 1000001000, \"dur\": 1000,"), 1);
}

Test(replay, reads_a_ring_over_many_laps_and_the_wrap_of_positions)
{
	struct pft_totals totals;

	start();
	ring = pft_fake_ring(session, 0, 102, "", (uint32_t)-8192);
	for (int round = 0; round < 100; round++) {
		for (int i = 0; i < 100; i++) {
			pft_fake_begin(&ring, (uint64_t)(round * 100 + i) * 10, leaf);
			pft_fake_end(&ring, (uint64_t)(round * 100 + i) * 10 + 5);
		}
		drain();
		commit();
		cr_assert_eq(pft_replay_tail(replay, 0), ring.head);
	}
	finish(2000000);
	check_totals(20000, 0, 0);
	totals = pft_replay_totals(replay);
	cr_assert_eq(totals.produced, 20000);
	cr_assert_eq(pft_replay_close(replay, &(struct pft_totals){0}), 0);
}

Test(replay, never_lets_a_threads_time_step_back)
{
	start();
	pft_fake_begin(&ring, 5000, outer);
	pft_fake_begin(&ring, 4000, inner);
	pft_fake_end(&ring, 4500);
	pft_fake_end(&ring, 6000);
	finish(3000);
	check_slice(find(read_trace(), "inner", 0), 5000, 0);
}

// ---- clocks -----------------------------------------------------------------------------------------

Test(replay, converts_ticks_of_the_counter)
{
	session->clock = PFT_CLOCK_TSC;
	session->start_ticks = 777000000000;
	ring.thread->begin_ticks = session->start_ticks;
	replay = pft_replay_open(session, fd, pft_fake_clocks(session, 0));
	pft_replay_clocks(replay, session->start_ticks + 3000000000, pft_fake_clocks(session, 1000000000));
	pft_fake_begin(&ring, 3000, outer); // ticks
	pft_fake_end(&ring, 9000);
	finish(30000);
	check_slice(find(read_trace(), "outer", 0), 1000, 2000);
}

Test(replay, keeps_a_straight_line_on_the_monotonic_clock)
{
	struct pft_clocks clocks;

	start();
	for (uint64_t ms = 20; ms < 2000; ms += 20) {
		clocks = pft_fake_clocks(session, ms * 1000000);
		clocks.boot_ns += ms % 7 * 100; // the two are not read at once
		pft_replay_clocks(replay, session->start_ticks + ms * 1000000, clocks);
	}
	pft_fake_begin(&ring, 1999000001, outer);
	pft_fake_end(&ring, 1999000002);
	finish(1999500000);
	check_slice(find(read_trace(), "outer", 0), 1999000001, 1);
}

Test(replay, goes_on_in_boot_time_after_the_machine_was_suspended)
{
	struct pft_clocks clocks;
	uint64_t hour = UINT64_C(3600000000000);

	start();
	now_is(20000000);
	clocks = pft_fake_clocks(session, 40000000);
	clocks.boot_ns += hour;
	pft_replay_clocks(replay, session->start_ticks + 40000000, clocks);
	pft_fake_begin(&ring, 41000000, outer);
	pft_fake_end(&ring, 41000500);
	finish(42000000);
	check_slice(find(read_trace(), "outer", 0), hour + 41000000, 500);
}

// ---- the window -------------------------------------------------------------------------------------

static void close_window(uint64_t ns)
{
	session->window += 3;
	session->closed_ticks = session->start_ticks + ns;
}

Test(replay, ends_what_is_open_where_the_window_closes)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, inner);
	drain();
	close_window(3000);
	pft_replay_pause(replay);
	commit();
	lines = pft_reader_slices(fd);
	check_slice(find(lines, "outer", 0), 1000, 2000);
	check_slice(find(lines, "inner", 0), 2000, 1000);
	find(lines, "recording stopped", 0);
	session->window--;
	pft_fake_pause(&ring, 5000, 1);
	pft_fake_begin(&ring, 5000, leaf);
	pft_fake_end(&ring, 6000);
	pft_fake_end(&ring, 7000);
	pft_fake_begin(&ring, 8000, leaf);
	pft_fake_end(&ring, 9000);
	finish(9500);
	check_totals(6, 1, 0);
	lines = read_trace();
	check_slice(find(lines, "leaf", 0), 5000, 1000);
	check_slice(find(lines, "leaf", 1), 8000, 1000);
	cr_assert_eq(count(lines, "recording stopped"), 1);
}

// The flusher may come too late to see it closed.
Test(replay, ends_what_was_open_when_the_thread_says_that_it_paused)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	close_window(3000);
	session->window--;
	pft_fake_pause(&ring, 5000, 0);
	pft_fake_begin(&ring, 5000, leaf);
	pft_fake_end(&ring, 6000);
	finish(7000);
	check_totals(3, 0, 0);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 2000);
	check_slice(find(lines, "leaf", 0), 5000, 1000);
	check(find(lines, "leaf", 0), "\"parent\": null");
}

Test(replay, forgets_calls_on_other_stacks_when_the_window_closes)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_foreign_begin(&ring, 1000, outer, 0x10000);
	drain();
	close_window(3000);
	pft_replay_pause(replay);
	session->window--;
	pft_fake_pause(&ring, 5000, 0);
	pft_fake_foreign_begin(&ring, 5000, leaf, 0x10000);
	pft_fake_foreign_end(&ring, 6000, 0x10000);
	finish(7000);
	check_totals(3, 0, 0);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 2000);
	check_slice(find(lines, "leaf", 0), 5000, 1000);
}

Test(replay, tells_nothing_of_a_thread_that_records_nothing_while_the_window_is_closed)
{
	const struct pft_reader_lines *lines;

	session->window = 1;
	start();
	finish(1000);
	check_totals(0, 0, 0);
	lines = read_trace();
	cr_assert_eq(count(lines, "thread begin") + count(lines, "thread end"), 0);
}

Test(replay, tells_of_a_thread_when_the_window_opens)
{
	session->window = 1;
	start();
	drain();
	session->window = 0;
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_end(&ring, 2000);
	finish(3000);
	check_totals(2, 0, 0);
	check_slice(find(read_trace(), "outer", 0), 1000, 1000);
}

// ---- filters ----------------------------------------------------------------------------------------

Test(replay, holds_back_begins_until_they_are_long_enough)
{
	const struct pft_reader_lines *lines;

	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 1100, leaf);
	pft_fake_end(&ring, 1200);
	pft_fake_begin(&ring, 1300, inner);
	pft_fake_end(&ring, 2300);
	pft_fake_begin(&ring, 2400, leaf);
	pft_fake_end(&ring, 3399);
	pft_fake_end(&ring, 3500);
	finish(4000);
	check_totals(4, 4, 0);
	lines = read_trace();
	cr_assert_eq(count(lines, "\"leaf\""), 0);
	check_slice(find(lines, "outer", 0), 1000, 2500);
	check_slice(find(lines, "inner", 0), 1300, 1000);
	check(find(lines, "inner", 0), "\"parent\": \"outer\"");
}

Test(replay, writes_held_begins_that_are_old_enough_at_a_commit)
{
	const struct pft_reader_lines *lines;

	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 5000, inner);
	drain();
	now_is(5999);
	drain();
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 1);
	now_is(6000);
	drain();
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 2);
	lines = pft_reader_slices(fd);
	check_open(find(lines, "inner", 0), 5000);
	pft_fake_end(&ring, 6500);
	pft_fake_end(&ring, 6600);
	finish(7000);
	check_totals(4, 0, 0);
	check_slice(find(read_trace(), "inner", 0), 5000, 1500);
}

Test(replay, writes_no_held_begin_whose_end_may_be_there_undrained)
{
	struct pft_fake_ring other = pft_fake_ring(session, 1, 101, "other", 0);

	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&other, 1000, leaf);
	pft_replay_drain(replay, other.index, other.head, false);
	pft_fake_end(&other, 1100);
	pft_fake_begin(&ring, 8000, outer);
	now_is(9000);
	drain(); // the other thread's turn comes later
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 1);
	pft_replay_drain(replay, other.index, other.head, false);
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 1);
	cr_assert_eq(pft_replay_totals(replay).filtered, 2);
}

Test(replay, writes_no_held_begin_whose_end_may_be_in_flight)
{
	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, leaf);
	now_is(9000);
	pft_replay_drain(replay, ring.index, ring.head, true);
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 1);
	pft_fake_end(&ring, 2100);
	finish(9500);
	check_totals(1, 2, 0);
	cr_assert_eq(count(read_trace(), "\"name\": \"leaf\""), 0);
}

Test(replay, counts_young_held_begins_as_filtered_at_the_close)
{
	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 5000, inner);
	drain();
	now_is(5200);
	commit();
	cr_assert_eq(pft_replay_close(replay, &(struct pft_totals){0}), 0);
	cr_assert_eq(count(pft_reader_slices(fd), "\"name\": \"outer\""), 1);
	cr_assert_eq(count(pft_reader_slices(fd), "\"name\": \"inner\""), 0);
	cr_assert_eq(attribute("pftshim.filtered"), 1);
}

static void say_totals_beside_a_young_begin(uint32_t leaving)
{
	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 5000, inner);
	now_is(5200);
	drain();
	pft_replay_say_totals(replay, leaving);
	commit();
	cr_assert_eq(attribute("pftshim.produced"), 2);
}

Test(replay, writes_held_begins_of_who_executes_another_program_before_it_says_the_totals)
{
	say_totals_beside_a_young_begin(100);
	cr_assert_eq(attribute("pftshim.written"), 2);
	pft_fake_end(&ring, 5300);
	finish(7000);
	check_totals(3, 0, 0);
	check_slice(find(read_trace(), "inner", 0), 5000, 300);
}

Test(replay, counts_held_begins_of_others_as_filtered_so_far)
{
	say_totals_beside_a_young_begin(99);
	cr_assert_eq(attribute("pftshim.written"), 1);
	cr_assert_eq(attribute("pftshim.filtered"), 1);
	pft_fake_end(&ring, 6300);
	finish(7000);
	check_totals(3, 0, 0);
	check_slice(find(read_trace(), "inner", 0), 5000, 1300);
}

Test(replay, says_what_became_of_the_events_of_each_thread)
{
	struct pft_fake_ring other = pft_fake_ring(session, 1, 101, "other", 0);

	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&other, 1000, leaf);
	pft_fake_begin(&other, 8500, leaf);
	pft_replay_drain(replay, other.index, other.head, false);
	pft_fake_begin(&ring, 2000, outer);
	pft_fake_foreign_begin(&ring, 2100, leaf, 0x700000);
	pft_fake_foreign_end(&ring, 2200, 0x700000);
	pft_fake_begin(&ring, 2500, inner);
	pft_fake_end(&ring, 2600);
	pft_fake_gap(&ring, 7000, 5, 0);
	now_is(9000);
	finish(9000);
	pft_replay_say_totals(replay, 0);
	commit();
	cr_assert_str_eq(account(100), "10 events = 1 written + 2 filtered + 5 dropped + 2 on other stacks");
	cr_assert_str_eq(account(101), "2 events so far = 1 written + 1 filtered + 0 dropped");
	cr_assert_eq(attribute("pftshim.produced"), 12);
	cr_assert_eq(pft_replay_close(replay, &(struct pft_totals){0}), 0);
	cr_assert_str_eq(account(101), "2 events = 1 written + 1 filtered + 0 dropped");
}

Test(replay, filters_held_begins_of_a_thread_that_ends)
{
	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 5000, inner);
	finish(5500);
	check_totals(1, 1, 0);
	check_slice(find(read_trace(), "outer", 0), 1000, 4500);
}

Test(replay, leaves_out_what_is_deeper_than_asked)
{
	const struct pft_reader_lines *lines;

	session->max_depth = 2;
	start();
	for (int i = 0; i < 2; i++) {
		pft_fake_begin(&ring, 1000, outer);
		pft_fake_begin(&ring, 1100, inner);
		pft_fake_begin(&ring, 1200, leaf);
		pft_fake_begin(&ring, 1300, leaf);
		pft_fake_end(&ring, 1400);
		pft_fake_unwound(&ring, 1500);
		pft_fake_end(&ring, 1600);
		pft_fake_end(&ring, 1700);
	}
	finish(2000);
	check_totals(8, 8, 0);
	lines = read_trace();
	cr_assert_eq(count(lines, "\"name\": \"leaf\""), 0);
	cr_assert_eq(count(lines, "\"name\": \"inner\""), 2);
	check(find(lines, "inner", 1), "\"parent\": \"outer\"");
}

Test(replay, only_counts_calls_beyond_the_depth_that_viewers_keep)
{
	const struct pft_reader_lines *lines;
	const int depth = 700;

	start();
	for (int i = 0; i < depth; i++) {
		pft_fake_begin(&ring, (uint64_t)i, leaf);
		drain();
	}
	for (int i = 0; i < depth; i++) {
		pft_fake_end(&ring, (uint64_t)(depth + i));
		drain();
	}
	finish(2000);
	check_totals(2 * PFT_DEPTH_MAX, (uint64_t)(2 * (depth - PFT_DEPTH_MAX)), 0);
	lines = read_trace();
	cr_assert_eq(count(lines, "\"name\": \"leaf\""), PFT_DEPTH_MAX);
	check_slice(find(lines, "leaf", 0), 0, 1399);
}

Test(replay, applies_both_filters_at_once)
{
	session->min_duration_ns = 1000;
	session->max_depth = 1;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 1100, inner);
	pft_fake_end(&ring, 9000);
	pft_fake_end(&ring, 9100);
	pft_fake_begin(&ring, 9200, leaf);
	pft_fake_end(&ring, 9300);
	finish(9400);
	check_totals(2, 4, 0);
	cr_assert_eq(count(read_trace(), "\"kind\": \"slice\""), 1);
}

// ---- losses -----------------------------------------------------------------------------------------

Test(replay, closes_slices_at_a_gap_and_lets_late_ends_close_nothing)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 1500, inner);
	pft_fake_gap(&ring, 3000, 10, 1);
	pft_fake_begin(&ring, 3500, leaf);
	pft_fake_end(&ring, 3600);
	pft_fake_end(&ring, 4000); // of outer
	pft_fake_end(&ring, 4100); // of nothing
	pft_fake_begin(&ring, 5000, leaf);
	pft_fake_end(&ring, 5100);
	finish(6000);
	check_totals(6, 0, 12);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 2000);
	check_slice(find(lines, "inner", 0), 1500, 1500);
	check(find(lines, "leaf", 0), "\"parent\": null");
	check_slice(find(lines, "leaf", 1), 5000, 100);
}

Test(replay, settles_held_begins_at_a_gap)
{
	const struct pft_reader_lines *lines;

	session->min_duration_ns = 1000;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2500, inner);
	pft_fake_gap(&ring, 3000, 2, 2);
	pft_fake_end(&ring, 4500);
	pft_fake_end(&ring, 4600);
	finish(6000);
	check_totals(1, 1, 4);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 2000);
	cr_assert_eq(count(lines, "\"inner\""), 0);
}

Test(replay, counts_depth_over_a_gap)
{
	session->max_depth = 2;
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_gap(&ring, 2000, 4, 1);
	pft_fake_begin(&ring, 3000, inner);
	pft_fake_begin(&ring, 3100, leaf);
	pft_fake_end(&ring, 3200);
	pft_fake_end(&ring, 3300);
	pft_fake_end(&ring, 3400);
	finish(4000);
	check_totals(3, 2, 5);
	cr_assert_eq(count(read_trace(), "\"name\": \"leaf\""), 0);
}

Test(replay, tells_what_a_thread_dropped_at_its_very_end)
{
	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_end(&ring, 1100);
	pft_fake_gap(&ring, 2000, 3, 0);
	ring.thread->dropped += 7;
	finish(3000);
	check_totals(2, 0, 10);
	read_trace();
	cr_assert_eq(dropped_in_trace(), 10);
}

Test(replay, starts_behind_what_was_overwritten)
{
	const struct pft_reader_lines *lines;
	const uint32_t slots = RING_BYTES / SLOT;

	session->overflow = 2;
	start();
	pft_fake_begin(&ring, 10, outer);
	drain();
	for (uint32_t i = 0; i < slots; i++) {
		pft_fake_begin(&ring, 100 + 10 * i, inner);
		pft_fake_end(&ring, 105 + 10 * i);
	}
	finish(9000);
	// All but one slot of the ring is read. The oldest is an end, whose begin is gone.
	check_totals(1 + slots - 2, 0, slots + 2);
	lines = read_trace();
	cr_assert_eq(count(lines, "\"name\": \"inner\""), (int)slots / 2 - 1);
	check_slice(find(lines, "outer", 0), 10, 105 + 10 * (slots / 2) - 10);
}

Test(replay, accounts_for_overwritten_slots_that_were_no_events)
{
	session->overflow = 2;
	start();
	for (uint32_t i = 0; i < 400; i++) {
		pft_fake_foreign_begin(&ring, 100 + 10 * i, inner, 0x700000);
		pft_fake_foreign_end(&ring, 105 + 10 * i, 0x700000);
	}
	finish(9000);
	cr_assert_eq(pft_replay_totals(replay).produced, 800);
	cr_assert_eq(pft_replay_totals(replay).written + pft_replay_totals(replay).dropped, 800);
	cr_assert_geq(pft_replay_totals(replay).written, 124);
	read_trace();
}

// What is left of a record whose first slot was overwritten must not be taken for a record: this one would be
// a call.
Test(replay, takes_no_half_of_a_record_for_one)
{
	uint32_t mapping = pft_fake_mapping(session, "/usr/lib/libx.so", 0x10000);
	uint32_t frame = 0;

	session->overflow = 2;
	start();
	while (frame < outer)
		frame = pft_fake_frame(session, mapping, 0x10100 + frame, frame);
	pft_fake_begin(&ring, 10, leaf);
	for (uint32_t i = 0; i < RING_BYTES / SLOT / 2; i++) {
		pft_fake_end(&ring, 100 + 10 * i);
		pft_fake_came_from(&ring, frame);
	}
	finish(9000);
	cr_assert_eq(count(read_trace(), "\"kind\": \"slice\""), 0);
}

// Positions are 32 bits wide.
Test(replay, counts_what_is_overwritten_though_positions_come_round)
{
	const uint64_t lap = UINT64_C(1) << 30;

	session->overflow = 2;
	start();
	for (int i = 0; i < 9; i++) {
		ring.head += (uint32_t)lap;
		cr_assert(pft_replay_advance(replay, 0, ring.head));
		cr_assert_not(pft_replay_advance(replay, 0, ring.head));
		commit();
	}
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_end(&ring, 2000);
	finish(9000);
	check_totals(2, 0, 9 * lap / SLOT);
	check_slice(find(read_trace(), "outer", 0), 1000, 1000);
	cr_assert_eq(dropped_in_trace(), (uint32_t)(9 * lap / SLOT));
}

Test(replay, passes_over_a_slot_that_is_not_whole)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 1100, inner);
	pft_fake_end(&ring, 1200);
	pft_fake_begin(&ring, 1300, leaf);
	pft_fake_end(&ring, 1400);
	pft_fake_end(&ring, 1500);
	pft_session_record(session, 0, 2 * SLOT)->at = 12345;
	finish(2000);
	check_totals(4, 0, 2);
	lines = read_trace();
	check_slice(find(lines, "inner", 0), 1100, 200);
	check_slice(find(lines, "leaf", 0), 1300, 100);
}

Test(replay, goes_on_counting_when_the_file_cannot_be_written)
{
	int full = open("/dev/full", O_WRONLY);

	replay = pft_replay_open(session, full, pft_fake_clocks(session, 0));
	now_is(0);
	for (int i = 0; i < 2; i++) {
		pft_fake_begin(&ring, 1000, outer);
		pft_fake_end(&ring, 2000);
		drain();
		cr_assert_eq(pft_replay_commit(replay), i == 0 ? -ENOSPC : 0);
		cr_assert_eq(pft_replay_tail(replay, 0), ring.head);
		check_totals(0, 0, 2 * (uint64_t)(i + 1));
	}
	finish(3000);
	pft_replay_commit(replay);
	check_totals(0, 0, 4);
	pft_replay_close(replay, &(struct pft_totals){0});
	close(full);
}

// ---- where calls came from --------------------------------------------------------------------------

#define CALLSTACK "\"callstack\": [\"?\"]"

static uint32_t some_frame(void)
{
	return pft_fake_frame(session, pft_fake_mapping(session, "/nowhere", 0x1000), 0x1010, 0);
}

static void check_came_from(void)
{
	const struct pft_reader_lines *lines = read_trace();

	check(find(lines, "inner", 0), CALLSTACK);
	cr_assert_eq(count(lines, "callstack"), 1);
}

Test(replay, tells_where_a_call_came_from)
{
	start();
	pft_fake_begin(&ring, 10, outer);
	pft_fake_begin(&ring, 20, inner);
	pft_fake_came_from(&ring, some_frame());
	pft_fake_end(&ring, 30);
	pft_fake_end(&ring, 40);
	finish(50);
	check_totals(4, 0, 0);
	check_came_from();
}

Test(replay, tells_where_a_call_came_from_that_was_held_back)
{
	session->min_duration_ns = 5;
	start();
	pft_fake_begin(&ring, 10, outer);
	pft_fake_begin(&ring, 20, inner);
	pft_fake_came_from(&ring, some_frame());
	drain();
	commit();
	pft_fake_end(&ring, 30);
	pft_fake_end(&ring, 40);
	finish(50);
	check_totals(4, 0, 0);
	check_came_from();
}

Test(replay, tells_where_a_call_on_another_stack_came_from)
{
	start();
	pft_fake_begin(&ring, 10, outer);
	pft_fake_foreign_begin(&ring, 20, inner, 0x700000);
	pft_fake_came_from(&ring, some_frame());
	pft_fake_foreign_end(&ring, 30, 0x700000);
	pft_fake_end(&ring, 40);
	finish(50);
	check_totals(4, 0, 0);
	check_came_from();
}

// ---- foreign stacks ---------------------------------------------------------------------------------

#define STACK_A UINT64_C(0x7f0000100000)
#define STACK_B UINT64_C(0x7f0000200000)

Test(replay, puts_each_foreign_stack_on_a_track_of_its_own)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_begin(&ring, 900, outer);
	pft_fake_foreign_begin(&ring, 1000, inner, STACK_A);
	pft_fake_foreign_begin(&ring, 1100, inner, STACK_B);
	pft_fake_foreign_begin(&ring, 1200, leaf, STACK_A - 200);
	pft_fake_foreign_end(&ring, 1300, STACK_B);
	pft_fake_foreign_end(&ring, 1400, STACK_A - 200);
	pft_fake_foreign_end(&ring, 1500, STACK_A);
	pft_fake_end(&ring, 1600);
	finish(2000);
	check_totals(8, 0, 0);
	lines = read_trace();
	check_slice(find(lines, "inner", 0), 1000, 500);
	check(find(lines, "inner", 0), "\"track\": \"coroutine 1\"");
	check_slice(find(lines, "inner", 1), 1100, 200);
	check(find(lines, "inner", 1), "\"track\": \"coroutine 2\"");
	check(find(lines, "leaf", 0), "\"parent\": \"inner\"");
	check(find(lines, "leaf", 0), "\"tid\": 100");
	check_slice(find(lines, "outer", 0), 900, 700);
}

Test(replay, comes_back_to_the_track_of_a_stack_that_was_idle)
{
	const struct pft_reader_lines *lines;

	start();
	for (uint64_t i = 0; i < 3; i++) {
		pft_fake_foreign_begin(&ring, 1000 + 100 * i, inner, STACK_A + 1000 * i);
		pft_fake_foreign_end(&ring, 1050 + 100 * i, STACK_A + 1000 * i);
		pft_fake_foreign_begin(&ring, 1060 + 100 * i, leaf, STACK_B - 10000 * i);
		pft_fake_foreign_end(&ring, 1070 + 100 * i, STACK_B - 10000 * i);
	}
	finish(2000);
	check_totals(12, 0, 0);
	lines = read_trace();
	cr_assert_eq(count(lines, "coroutine 1"), 3);
	cr_assert_eq(count(lines, "coroutine 2"), 3);
}

Test(replay, joins_the_nearest_stack_above)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	pft_fake_foreign_begin(&ring, 1010, inner, STACK_A - 40000);
	pft_fake_foreign_begin(&ring, 1020, leaf, STACK_A - 41000);
	pft_fake_foreign_end(&ring, 1030, STACK_A - 41000);
	pft_fake_foreign_end(&ring, 1040, STACK_A);
	pft_fake_foreign_end(&ring, 1050, STACK_A - 40000);
	finish(2000);
	check_totals(6, 0, 0);
	lines = read_trace();
	check(find(lines, "leaf", 0), "\"parent\": \"inner\"");
	check_slice(find(lines, "inner", 0), 1010, 40);
}

Test(replay, unwinds_calls_whose_slot_is_used_again)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	pft_fake_foreign_begin(&ring, 1100, inner, STACK_A - 100);
	pft_fake_foreign_begin(&ring, 1200, leaf, STACK_A - 200);
	pft_fake_foreign(&ring, 1300, PFT_BEGIN | inner, STACK_A - 100, 2);
	pft_fake_foreign(&ring, 1500, PFT_END, STACK_A - 100, 2);
	pft_fake_foreign_end(&ring, 1600, STACK_A);
	finish(2000);
	lines = read_trace();
	check_slice(find(lines, "leaf", 0), 1200, 99);
	cr_assert(is_unwound(find(lines, "leaf", 0)));
	check_slice(find(lines, "inner", 0), 1100, 200);
	cr_assert(is_unwound(find(lines, "inner", 0)));
	check_slice(find(lines, "inner", 1), 1300, 200);
	cr_assert_not(is_unwound(find(lines, "inner", 1)));
	check_slice(find(lines, "outer", 0), 1000, 600);
}

Test(replay, unwinds_foreign_calls_below_one_that_ends)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	pft_fake_foreign_begin(&ring, 1100, inner, STACK_A - 100);
	pft_fake_foreign_begin(&ring, 1200, leaf, STACK_A - 200);
	pft_fake_foreign_unwound(&ring, 1400, STACK_A - 100);
	pft_fake_foreign_end(&ring, 1500, STACK_A);
	finish(2000);
	lines = read_trace();
	check_slice(find(lines, "leaf", 0), 1200, 199);
	check(find(lines, "leaf", 0), "\"parent\": \"inner\"");
	cr_assert(is_unwound(find(lines, "leaf", 0)));
	check_slice(find(lines, "inner", 0), 1100, 300);
	cr_assert(is_unwound(find(lines, "inner", 0)));
	cr_assert_not(is_unwound(find(lines, "outer", 0)));
}

Test(replay, filters_foreign_calls_as_well)
{
	const struct pft_reader_lines *lines;

	session->min_duration_ns = 100;
	session->max_depth = 1;
	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	pft_fake_foreign_begin(&ring, 1010, leaf, STACK_A - 100);
	pft_fake_foreign_end(&ring, 1200, STACK_A - 100);
	pft_fake_foreign_end(&ring, 1300, STACK_A);
	pft_fake_foreign_begin(&ring, 1400, leaf, STACK_B);
	pft_fake_foreign_end(&ring, 1450, STACK_B);
	finish(2000);
	check_totals(2, 4, 0);
	lines = read_trace();
	cr_assert_eq(count(lines, "\"kind\": \"slice\""), 1);
}

Test(replay, writes_no_held_foreign_begin_whose_end_may_be_there_undrained)
{
	session->min_duration_ns = 1000;
	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	drain();
	commit();
	now_is(9000);
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 0);
	pft_replay_drain(replay, ring.index, ring.head, true);
	pft_replay_pass(replay, false);
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 0);
	now_is(9100);
	drain();
	commit();
	cr_assert_eq(pft_replay_totals(replay).written, 1);
}

Test(replay, leaves_foreign_calls_open_when_their_thread_ends)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	finish(2000);
	commit();
	ring = pft_fake_ring(session, 0, 101, "second", ring.head);
	pft_fake_foreign(&ring, 3000, PFT_BEGIN | inner, STACK_A, 2);
	pft_fake_foreign(&ring, 3100, PFT_END, STACK_A, 2);
	finish(4000);
	check_totals(3, 0, 0);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 2000);
	check(find(lines, "outer", 0), "\"tid\": 100");
	check(find(lines, "inner", 0), "\"tid\": 101");
	check(find(lines, "inner", 0), "\"track\": \"coroutine 1\"");
}

Test(replay, bounds_the_number_of_foreign_tracks)
{
	start();
	for (uint64_t i = 0; i < 2000; i++) {
		pft_fake_foreign_begin(&ring, 1000 + 10 * i, inner, STACK_A + (i << 20));
		pft_fake_foreign_end(&ring, 1005 + 10 * i, STACK_A + (i << 20));
		drain();
	}
	finish(40000);
	check_totals(4000, 0, 0);
	cr_assert_eq(count(read_trace(), "\"coroutine 257\""), 0);
}

Test(replay, ends_foreign_calls_that_were_open_when_records_were_lost)
{
	const struct pft_reader_lines *lines;

	start();
	pft_fake_foreign_begin(&ring, 1000, outer, STACK_A);
	pft_fake_begin(&ring, 1100, inner);
	pft_fake_end(&ring, 1200);
	pft_fake_foreign_end(&ring, 1300, STACK_A);
	pft_session_record(session, 0, 2 * SLOT)->what = 0x7f000000;
	finish(2000);
	check_totals(2, 0, 2);
	lines = read_trace();
	check_slice(find(lines, "outer", 0), 1000, 300);
}
