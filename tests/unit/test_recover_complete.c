// SPDX-License-Identifier: MIT
// Unit tests of encoder/recover/complete.c, and by that of how a replay goes on from a commit record: what a
// dead process left becomes a whole trace. Run by Criterion. A kill is a copy of the session: what the
// process did afterwards does not reach it.
#include "encoder/recover/complete.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/replay.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/reader.h"

static struct pft_session *session, *dead;
static struct pft_replay *replay;
static struct pft_fake_ring first, second;
static struct pft_completed completed;
static uint32_t hooks[8]; // called "0" to "7"
static int fd;

static void set_up(void)
{
	char name[2] = "0";

	session = pft_fake_session(1024, 2);
	dead = pft_fake_session(1024, 2);
	for (; name[0] < '8'; name[0]++)
		hooks[name[0] - '0'] = pft_fake_hook(session, NULL, name);
	first = pft_fake_ring(session, 0, 100, "first", 64);
	fd = pft_reader_file();
}

TestSuite(recover_complete, .init = set_up);

static void now_is(uint64_t ns)
{
	struct pft_clocks clocks = pft_fake_clocks(session, ns);

	if (replay == NULL)
		replay = pft_replay_open(session, fd, clocks);
	cr_assert_not_null(replay);
	pft_replay_clocks(replay, session->start_ticks + ns, clocks);
}

static void drain(void)
{
	now_is(first.thread->end_ticks);
	pft_replay_drain(replay, 0, first.head, false);
	if (second.session)
		pft_replay_drain(replay, 1, second.head, false);
}

static void commit(void)
{
	drain();
	cr_assert_eq(pft_replay_commit(replay), 0);
}

static void die(void)
{
	memcpy(dead, session, session->bytes);
}

static void recover(void)
{
	cr_assert_eq(pft_complete(dead, fd, -1, &completed), 0);
}

// ---- what the file says -----------------------------------------------------------------------------

static struct {
	unsigned begins[8], ends, unwound, thread_begins, thread_ends, gaps;
	uint64_t dropped;
} said;

static struct {
	uint64_t sequence, iid;
	char name;
} names[4096];

static size_t name_count;

static void learn_names(const Pft__Proto__TracePacket *packet)
{
	const Pft__Proto__InternedData *data = packet->interned_data;

	for (size_t i = 0; data && i < data->n_event_names && name_count < 4096; i++) {
		names[name_count].sequence = packet->trusted_packet_sequence_id;
		names[name_count].iid = data->event_names[i]->iid;
		names[name_count++].name = data->event_names[i]->name[0];
	}
}

static char name_of(const Pft__Proto__TracePacket *packet)
{
	for (size_t i = name_count; i-- > 0;)
		if (names[i].sequence == packet->trusted_packet_sequence_id &&
			names[i].iid == packet->track_event->name_iid)
			return names[i].name;
	return '?';
}

static void read_event(const Pft__Proto__TracePacket *packet)
{
	const Pft__Proto__TrackEvent *event = packet->track_event;
	char name;

	switch (event->type) {
	case PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN:
		name = name_of(packet);
		cr_assert(name >= '0' && name <= '7', "a slice is called %c", name);
		said.begins[name - '0']++;
		break;
	case PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_END:
		said.ends++;
		said.unwound += event->n_debug_annotations != 0;
		break;
	default:
		said.thread_begins += strcmp(event->name, "thread begin") == 0;
		said.thread_ends += strcmp(event->name, "thread end") == 0;
	}
}

static void read_file(void)
{
	const Pft__Proto__Trace *trace = pft_reader_packets(fd);

	memset(&said, 0, sizeof said);
	name_count = 0;
	for (size_t i = 0; i < trace->n_packet; i++) {
		learn_names(trace->packet[i]);
		if (trace->packet[i]->track_event)
			read_event(trace->packet[i]);
		said.gaps += trace->packet[i]->previous_packet_dropped != 0;
	}
}

static void assert_adds_up(uint64_t produced)
{
	struct pft_totals *totals = &completed.totals;

	cr_assert_eq(totals->written + totals->filtered + totals->dropped, totals->produced,
		"%lu written, %lu filtered, %lu dropped, %lu produced", totals->written, totals->filtered,
		totals->dropped, totals->produced);
	cr_assert_eq(totals->produced, produced, "%lu produced, not %lu", totals->produced, produced);
}

// As many begins of each hook as the digits say, and so many ends.
static void assert_said(const char *begins, unsigned ends)
{
	char got[9] = "";

	read_file();
	for (int i = 0; begins[i]; i++)
		got[i] = (char)('0' + said.begins[i]);
	cr_assert_str_eq(got, begins);
	cr_assert_eq(said.ends, ends, "%u ends, not %u", said.ends, ends);
}

static void call(unsigned hook, uint64_t ns, uint64_t duration_ns)
{
	pft_fake_begin(&first, ns, hooks[hook]);
	pft_fake_end(&first, ns + duration_ns);
}

// ---- going on ---------------------------------------------------------------------------------------

Test(recover_complete, writes_what_no_commit_knows_of)
{
	call(0, 1000, 10);
	die();
	recover();
	assert_said("1", 1);
	cr_assert_eq(said.thread_begins, 1);
	cr_assert_eq(said.thread_ends, 0);
	assert_adds_up(2);
	cr_assert_eq(completed.found, 2);
}

Test(recover_complete, writes_only_what_came_after_the_commit)
{
	call(0, 1000, 10);
	commit();
	call(1, 2000, 10);
	die();
	recover();
	assert_said("11", 2);
	cr_assert_eq(said.thread_begins, 1);
	assert_adds_up(4);
	cr_assert_eq(completed.found, 2);
}

Test(recover_complete, cuts_off_what_was_written_and_not_committed)
{
	struct stat found;
	off_t committed;

	call(0, 1000, 10);
	commit();
	cr_assert_eq(fstat(fd, &found), 0);
	committed = found.st_size;
	call(1, 2000, 10);
	die();
	commit();
	for (off_t cut = committed; cut < committed + 60; cut++) {
		memcpy(dead, session, session->bytes);
		dead->generation--;
		cr_assert_eq(ftruncate(fd, cut), 0);
		recover();
		assert_said("11", 2);
		assert_adds_up(4);
	}
}

Test(recover_complete, does_nothing_to_a_trace_that_is_shorter_than_committed)
{
	struct stat found;

	call(0, 1000, 10);
	commit();
	die();
	cr_assert_eq(fstat(fd, &found), 0);
	cr_assert_eq(ftruncate(fd, found.st_size - 1), 0);
	cr_assert_eq(pft_complete(dead, fd, -1, &completed), -ENODATA);
	cr_assert_eq(fstat(fd, &found), 0);
	cr_assert_eq((uint64_t)found.st_size, pft_session_commit(dead, 1)->trace_bytes - 1);
}

Test(recover_complete, makes_the_same_file_however_often)
{
	static char before[65536], after[65536];
	ssize_t size;

	call(0, 1000, 10);
	commit();
	call(1, 2000, 10);
	pft_fake_begin(&first, 3000, hooks[2]);
	die();
	recover();
	size = pread(fd, before, sizeof before, 0);
	die();
	recover();
	cr_assert_eq(pread(fd, after, sizeof after, 0), size);
	cr_assert_eq(memcmp(before, after, (size_t)size), 0);
}

Test(recover_complete, closes_slices_that_were_open_at_the_commit)
{
	pft_fake_begin(&first, 1000, hooks[0]);
	pft_fake_begin(&first, 1100, hooks[1]);
	commit();
	pft_fake_end(&first, 2000);
	pft_fake_unwound(&first, 2100);
	call(2, 3000, 10);
	die();
	recover();
	assert_said("111", 3);
	cr_assert_eq(said.unwound, 1);
	assert_adds_up(6);
}

Test(recover_complete, leaves_open_what_had_not_returned)
{
	const struct pft_reader_lines *lines;
	unsigned open = 0;

	pft_fake_begin(&first, 1000, hooks[0]);
	commit();
	pft_fake_begin(&first, 2000, hooks[1]);
	die();
	recover();
	assert_said("11", 0);
	assert_adds_up(2);
	lines = pft_reader_slices(fd);
	for (size_t i = 0; i < lines->count; i++)
		open += pft_reader_says(lines, i, "\"kind\": \"slice\"") &&
			pft_reader_says(lines, i, "\"dur\": null");
	cr_assert_eq(open, 2);
}

Test(recover_complete, counts_on_beyond_the_greatest_depth)
{
	for (unsigned i = 0; i < PFT_DEPTH_MAX + 5; i++) {
		pft_fake_begin(&first, i, hooks[0]);
		if (i % 32 == 0)
			commit();
	}
	commit();
	for (unsigned i = 0; i < 10; i++)
		pft_fake_end(&first, 1000 + i);
	die();
	recover();
	read_file();
	cr_assert_eq(said.begins[0], PFT_DEPTH_MAX);
	cr_assert_eq(said.ends, 5);
	cr_assert_eq(completed.totals.filtered, 10);
	assert_adds_up(PFT_DEPTH_MAX + 15);
}

Test(recover_complete, knows_begins_that_were_held_back)
{
	session->min_duration_ns = 1000;
	dead->min_duration_ns = 1000;
	pft_fake_begin(&first, 1000, hooks[0]);
	pft_fake_begin(&first, 1900, hooks[1]);
	commit();
	pft_fake_end(&first, 2000); // too short
	pft_fake_end(&first, 2100); // long enough
	pft_fake_begin(&first, 3000, hooks[2]);
	die();
	recover();
	assert_said("100", 1);
	cr_assert_eq(completed.totals.filtered, 3);
	assert_adds_up(5);
}

Test(recover_complete, takes_the_latest_event_for_the_end_of_what_was_held_back)
{
	session->min_duration_ns = 1000;
	pft_fake_begin(&first, 1000, hooks[0]);
	second = pft_fake_ring(session, 1, 101, "second", 0);
	pft_fake_begin(&second, 1000, hooks[1]);
	pft_fake_begin(&second, 2500, hooks[2]);
	die();
	recover();
	assert_said("110", 0);
	assert_adds_up(3);
}

Test(recover_complete, counts_no_begin_twice_that_the_last_commit_let_go)
{
	struct pft_totals totals;

	session->min_duration_ns = 1000;
	pft_fake_begin(&first, 1000, hooks[0]);
	drain();
	cr_assert_eq(pft_replay_close(replay, &totals), 0);
	cr_assert_eq(totals.filtered, 1);
	die();
	recover();
	assert_said("0", 0);
	assert_adds_up(1);
}

Test(recover_complete, ends_calls_on_foreign_stacks_that_were_open_at_the_commit)
{
	pft_fake_foreign_begin(&first, 1000, hooks[0], 0x7000);
	pft_fake_foreign_begin(&first, 1100, hooks[1], 0x6f00); // not written before its end
	drain();
	pft_replay_pass(replay, true);
	cr_assert_eq(pft_replay_commit(replay), 0);
	pft_fake_foreign_end(&first, 2000, 0x6f00);
	pft_fake_foreign_end(&first, 2100, 0x7000);
	die();
	recover();
	assert_said("11", 2);
	cr_assert_eq(completed.totals.dropped, 0);
	assert_adds_up(4);
}

Test(recover_complete, knows_calls_that_a_gap_had_closed)
{
	pft_fake_begin(&first, 1000, hooks[0]);
	pft_fake_gap(&first, 1500, 6, 1);
	pft_fake_begin(&first, 1600, hooks[1]);
	commit();
	pft_fake_end(&first, 2000);
	pft_fake_end(&first, 2100); // of what the gap closed
	die();
	recover();
	assert_said("11", 2); // one of them the gap's
	cr_assert_eq(said.gaps, 1);
	cr_assert_eq(completed.totals.dropped, 7);
	assert_adds_up(10);
}

Test(recover_complete, counts_what_the_thread_dropped_and_had_not_said)
{
	pft_fake_begin(&first, 1000, hooks[0]);
	pft_fake_gap(&first, 1500, 6, 1);
	commit();
	first.thread->dropped += 4;
	die();
	recover();
	read_file();
	cr_assert_eq(said.gaps, 2);
	cr_assert_eq(completed.totals.dropped, 10);
	assert_adds_up(11);
}

Test(recover_complete, marks_losses_that_were_not_marked_at_the_commit)
{
	call(0, 1000, 10);
	pft_session_record(session, 0, first.head - 16)->at = 7;
	commit();
	call(1, 2000, 10);
	die();
	recover();
	read_file();
	cr_assert_eq(said.gaps, 1);
	cr_assert_eq(completed.totals.dropped, 1);
	assert_adds_up(4);
}

Test(recover_complete, counts_what_found_no_place)
{
	session->unseated = 12;
	call(0, 1000, 10);
	die();
	recover();
	cr_assert_eq(completed.totals.dropped, 12);
	assert_adds_up(14);
}

Test(recover_complete, keeps_the_newest_where_the_oldest_are_overwritten)
{
	session->overflow = PFT_OVERFLOW_OVERWRITE;
	for (unsigned i = 0; i < 100; i++)
		call(i < 99 ? 0 : 1, 100 * i, 10);
	die();
	recover();
	read_file();
	cr_assert_eq(said.begins[1], 1);
	cr_assert_geq(said.begins[0], 29);
	assert_adds_up(200);
}

Test(recover_complete, says_the_end_of_a_thread_once)
{
	call(0, 1000, 10);
	pft_fake_exit(&first, 2000);
	die();
	recover();
	read_file();
	cr_assert_eq(said.thread_ends, 1);
	assert_adds_up(2);
}

Test(recover_complete, does_not_say_again_what_is_of_an_ended_thread)
{
	call(0, 1000, 10);
	drain();
	pft_fake_exit(&first, 2000);
	pft_replay_end(replay, 0);
	cr_assert_eq(pft_replay_commit(replay), 0);
	die();
	recover();
	assert_said("1", 1);
	cr_assert_eq(said.thread_begins, 1);
	cr_assert_eq(said.thread_ends, 1);
	assert_adds_up(2);
	cr_assert_eq(completed.found, 0);
}

Test(recover_complete, ignores_an_entry_that_was_being_filled_in)
{
	call(0, 1000, 10);
	first.thread->state = PFT_THREAD_TAKEN;
	die();
	recover();
	assert_said("0", 0);
	assert_adds_up(0);
}

// ---- the model --------------------------------------------------------------------------------------
//
// The flusher and a thread store into the session at the same time, each in the order of its program. Their
// stores touch different words, so a kill leaves what some number of the flusher's and some number of the
// thread's have made: all interleavings of the two, cut off anywhere, are the points of a grid.

struct store {
	uint64_t at;
	uint32_t size; // 4 or 8
	unsigned events; // whole events once this store is there, of those of the list
};

struct stores {
	struct store list[4096];
	unsigned count;
};

static void add(struct stores *stores, uint64_t at, uint32_t size, unsigned events)
{
	cr_assert_lt(stores->count, sizeof stores->list / sizeof stores->list[0]);
	stores->list[stores->count++] = (struct store){at, size, events};
}

static unsigned events_of(const struct stores *stores, unsigned count)
{
	return count ? stores->list[count - 1].events : 0;
}

// Everything by which two copies differ in a part, in any order: within a commit record none is prescribed.
static void add_differences(struct stores *stores, const struct pft_session *before,
	const struct pft_session *after, uint64_t from, uint64_t to)
{
	for (uint64_t at = from; at < to; at += 8)
		if (memcmp((const char *)before + at, (const char *)after + at, 8) != 0)
			add(stores, at, 8, 0);
}

static void add_commit(
	struct stores *stores, const struct pft_session *before, const struct pft_session *after)
{
	uint64_t at = after->commit_at[after->generation & 1];

	add_differences(stores, before, after, at, at + after->commit_bytes);
	add(stores, offsetof(struct pft_session, generation), 8, 0);
}

// The slots of `ring` from position `from` on. `wide`: bit i is set when slot i has a second one.
static void add_slots(struct stores *stores, const struct pft_fake_ring *ring, uint32_t from, unsigned wide)
{
	unsigned events = events_of(stores, stores->count);

	for (unsigned slot = 0; from != ring->head; slot++, from += 16) {
		uint64_t at = (uint64_t)((char *)pft_session_record(ring->session, ring->index, from) -
					 (char *)ring->session);

		add(stores, at, 8, events);
		add(stores, at + 8, 4, events);
		events += !(wide & 1u << slot);
		add(stores, at + 12, 4, events);
	}
}

static void apply(const struct stores *stores, unsigned count, const struct pft_session *from)
{
	for (unsigned i = 0; i < count; i++) {
		const struct store *store = &stores->list[i];

		memcpy((char *)dead + store->at, (const char *)from + store->at, store->size);
	}
}

static struct pft_session *copy_session(void)
{
	return memcpy(pft_fake_session(1024, 2), session, session->bytes);
}

static struct stores of_flusher, of_thread;

// What the file holds after the write that comes before the commit's first store.
static char written[65536];
static ssize_t written_bytes;

static void restore_file(void)
{
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(pwrite(fd, written, (size_t)written_bytes, 0), written_bytes);
}

static void keep_file(void)
{
	written_bytes = pread(fd, written, sizeof written, 0);
}

static void assert_recovered_at_every_point(
	const struct pft_session *before, const struct pft_session *after, unsigned committed)
{
	for (unsigned i = 0; i <= of_flusher.count; i++) {
		for (unsigned j = 0; j <= of_thread.count; j++) {
			memcpy(dead, before, before->bytes);
			apply(&of_flusher, i, after);
			apply(&of_thread, j, after);
			restore_file();
			recover();
			assert_adds_up(committed + events_of(&of_thread, j));
			cr_assert_eq(completed.totals.dropped, 0);
			read_file();
			for (int hook = 0; hook < 8; hook++)
				cr_assert_leq(said.begins[hook], 1);
			cr_assert_eq(said.thread_begins, 2);
			cr_assert_eq(said.begins[0] + said.begins[1] + said.begins[2] + said.begins[3] +
					     said.begins[4] + said.begins[5] + said.begins[6] +
					     said.begins[7] + said.ends,
				committed + events_of(&of_thread, j));
		}
	}
}

Test(recover_complete, finds_every_event_once_at_every_point_of_a_commit, .timeout = 120)
{
	struct pft_session *before, *after;
	uint32_t from;

	pft_fake_begin(&first, 1000, hooks[0]);
	pft_fake_begin(&first, 1100, hooks[1]);
	commit();
	call(2, 1200, 50);
	pft_fake_end(&first, 1300);
	second = pft_fake_ring(session, 1, 101, "second", 320);
	pft_fake_begin(&second, 1000, hooks[3]);
	drain();
	before = copy_session();
	cr_assert_eq(pft_replay_commit(replay), 0);
	keep_file();

	from = first.head;
	pft_fake_begin(&first, 2000, hooks[4]);
	pft_fake_foreign_begin(&first, 2100, hooks[5], 0x7000);
	pft_fake_foreign_end(&first, 2200, 0x7000);
	pft_fake_end(&first, 2300);
	pft_fake_end(&first, 2400);
	call(6, 2500, 50);
	after = copy_session();
	add_commit(&of_flusher, before, after);
	add_slots(&of_thread, &first, from, 1u << 1 | 1u << 3);
	cr_assert_gt(of_flusher.count, 20);
	cr_assert_eq(of_thread.count, 27);
	assert_recovered_at_every_point(before, after, 6);
}

// The same for a hole: the interrupted writer's slots, the marker, and what the handler records.
Test(recover_complete, finds_every_event_once_at_every_point_of_a_hole)
{
	struct pft_session *before, *after;
	uint32_t from = first.head;
	const unsigned marked = 3 * (PFT_HOLE_SLOTS + 1); // this store is the marker's last

	before = copy_session();
	pft_fake_begin(&first, 1000, hooks[0]); // interrupted here, before its commit
	pft_session_record(session, 0, first.head)->ticks = 5;
	first.head += 16 * (PFT_HOLE_SLOTS - 1);
	*pft_session_record(session, 0, first.head) = (struct pft_record){.what = PFT_HOLE, .at = first.head};
	first.head += 16;
	call(1, 2000, 50);
	after = copy_session();
	add_slots(&of_thread, &first, from, 0);
	for (unsigned j = 0; j <= of_thread.count; j++) {
		memcpy(dead, before, before->bytes);
		apply(&of_thread, j, after);
		recover();
		read_file();
		cr_assert_eq(said.begins[0], j >= 3 && j < marked, "store %u", j);
		cr_assert_eq(said.begins[1], j >= marked + 3);
		cr_assert_eq(said.ends, j >= marked + 6);
		cr_assert_eq(completed.totals.dropped, 0);
	}
}

// The end of a thread: its last commit, the entry's being free, and the next thread's taking it. Each waits
// for the one before, so there is one order.
Test(recover_complete, finds_every_event_once_at_every_point_of_a_change_of_threads)
{
	struct pft_session *before, *committed, *after;
	uint64_t entry = session->threads_at;
	unsigned free_at, taken_at;

	call(0, 1000, 10);
	commit();
	call(1, 2000, 10);
	drain();
	pft_fake_exit(&first, 3000);
	before = copy_session();
	pft_replay_end(replay, 0);
	cr_assert_eq(pft_replay_commit(replay), 0);
	keep_file();
	committed = copy_session();
	add_commit(&of_flusher, before, committed);

	second = pft_fake_ring(session, 0, 101, "second", first.head);
	pft_fake_begin(&second, 4000, hooks[2]);
	after = copy_session();
	for (uint64_t at = 8; at < sizeof(struct pft_session_thread); at += 8)
		add(&of_thread, entry + at, 8, 0);
	add(&of_thread, entry, 8, 0); // the state last, along with the tid
	add_slots(&of_thread, &second, first.head, 0);
	free_at = of_flusher.count + 1;
	taken_at = free_at + 1;
	for (unsigned i = 0; i <= taken_at + of_thread.count; i++) {
		memcpy(dead, before, before->bytes);
		apply(&of_flusher, i < free_at ? i : of_flusher.count, committed);
		if (i >= free_at)
			pft_session_thread(dead, 0)->state = PFT_THREAD_FREE;
		if (i >= taken_at) {
			pft_session_thread(dead, 0)->state = PFT_THREAD_TAKEN;
			apply(&of_thread, i - taken_at, after);
		}
		restore_file();
		recover();
		assert_said("11", 2);
		cr_assert_eq(said.thread_ends, 1);
		cr_assert_eq(said.begins[2], i == taken_at + of_thread.count);
		assert_adds_up(4 + said.begins[2]);
	}
}
