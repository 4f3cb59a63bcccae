// SPDX-License-Identifier: MIT
// Unit tests of encoder/commit.c by way of replay.c: what the two commit records say, and when. Run by
// Criterion.
#include "encoder/commit.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/stat.h>

#include "encoder/replay.h"
#include "encoder/session.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

static struct pft_session *session;
static struct pft_replay *replay;
static struct pft_fake_ring first, second;
static uint32_t hook;
static int fd;

static void now_is(uint64_t ns)
{
	struct pft_clocks clocks = pft_fake_clocks(session, ns);

	if (replay == NULL)
		replay = pft_replay_open(session, fd, clocks);
	cr_assert_not_null(replay);
	pft_replay_clocks(replay, session->start_ticks + ns, clocks);
}

static void set_up(void)
{
	session = pft_fake_session(4096, 4);
	hook = pft_fake_hook(session, NULL, "f");
	first = pft_fake_ring(session, 0, 100, "first", 0);
	second = pft_fake_ring(session, 2, 101, "second", 1600);
	fd = pft_reader_file();
}

TestSuite(commit, .init = set_up);

static void drain(const struct pft_fake_ring *ring)
{
	pft_replay_drain(replay, ring->index, ring->head, false);
}

static void commit(void)
{
	cr_assert_eq(pft_replay_commit(replay), 0);
}

static const struct pft_commit_thread *entry(uint64_t generation, uint32_t index)
{
	return pft_commit_thread(pft_session_commit(session, generation), index);
}

static const struct pft_commit_thread *latest(uint32_t index)
{
	return entry(session->generation, index);
}

Test(commit, moves_the_tail_only_with_the_generation)
{
	now_is(0);
	pft_fake_begin(&second, 1000, hook);
	drain(&second);
	cr_assert_eq(pft_replay_tail(replay, 2), 1600);
	cr_assert_eq(session->generation, 0);
	commit();
	cr_assert_eq(session->generation, 1);
	cr_assert_eq(pft_replay_tail(replay, 2), second.head);
	cr_assert_eq(latest(2)->tail, second.head);
}

Test(commit, speaks_of_what_is_in_the_file)
{
	struct stat found;

	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	pft_fake_end(&first, 2000);
	drain(&first);
	commit();
	cr_assert_eq(fstat(fd, &found), 0);
	cr_assert_eq(pft_session_commit(session, 1)->trace_bytes, (uint64_t)found.st_size);
	cr_assert_geq(pft_session_commit(session, 1)->sequences, 1);
	cr_assert_eq(pft_session_commit(session, 1)->timeline.rate, UINT64_C(1) << 32);
}

Test(commit, lists_open_calls)
{
	const struct pft_commit_thread *thread;

	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	pft_fake_begin(&first, 1500, PFT_HOOK_WAIT);
	drain(&first);
	commit();
	thread = latest(0);
	cr_assert_eq(thread->serial, 1);
	cr_assert_eq(thread->depth, 2);
	cr_assert_eq(thread->last_ns, session->boot_ns + 1500);
	cr_assert_eq(thread->open[0].id, hook);
	cr_assert_eq(thread->open[0].ns, session->boot_ns + 1000);
	cr_assert_eq(thread->open[0].flags, PFT_OPEN_WRITTEN);
	cr_assert_eq(thread->open[1].id, PFT_HOOK_WAIT);
	cr_assert_eq(thread->produced, 2);
	cr_assert_eq(thread->written, 2);
}

Test(commit, lists_begins_that_are_held_back)
{
	session->min_duration_ns = 1000;
	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	pft_fake_begin(&first, 2500, hook);
	drain(&first);
	commit();
	cr_assert_eq(latest(0)->depth, 2);
	cr_assert_eq(latest(0)->open[0].flags, PFT_OPEN_WRITTEN);
	cr_assert_eq(latest(0)->open[1].flags, 0);
	cr_assert_eq(latest(0)->open[1].id, hook);
	now_is(20000000);
	drain(&first); // nothing is there, so the begin is old enough now
	commit();
	cr_assert_eq(latest(0)->open[1].flags, PFT_OPEN_WRITTEN);
}

Test(commit, lists_calls_that_a_gap_has_closed)
{
	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	pft_fake_gap(&first, 2000, 5, 1);
	pft_fake_begin(&first, 3000, hook);
	drain(&first);
	commit();
	cr_assert_eq(latest(0)->depth, 2);
	cr_assert_eq(latest(0)->open[0].id, PFT_HOOK_NONE);
	cr_assert_eq(latest(0)->open[1].id, hook);
	cr_assert_eq(latest(0)->dropped, 5);
	cr_assert_eq(latest(0)->produced, 7);
}

Test(commit, lists_open_calls_of_foreign_stacks)
{
	const struct pft_open_foreign *list;

	now_is(0);
	pft_fake_foreign(&first, 1000, PFT_BEGIN | hook, 0x700100, 7);
	pft_fake_foreign(&first, 1500, PFT_BEGIN | hook, 0x700000, 8);
	drain(&first);
	pft_replay_pass(replay, true);
	commit();
	commit();
	for (uint64_t generation = 1; generation <= 2; generation++) {
		struct pft_commit *record = pft_session_commit(session, generation);

		cr_assert_eq(record->foreign, 2);
		list = pft_commit_foreign(session, record);
		cr_assert_eq(list[0].slot, 0x700000 | UINT64_C(8) << PFT_TURN_SHIFT);
		cr_assert_eq(list[0].flags, 0, "it is written when it ends");
		cr_assert_eq(list[1].slot, 0x700100 | UINT64_C(7) << PFT_TURN_SHIFT);
		cr_assert_eq(list[1].ns, session->boot_ns + 1000);
		cr_assert_eq(list[1].id, hook);
		cr_assert_eq(list[1].flags, PFT_OPEN_WRITTEN | PFT_OPEN_OUTERMOST);
		cr_assert_eq(list[1].track_uuid, list[0].track_uuid);
	}
}

Test(commit, counts_what_is_deeper_than_the_list)
{
	now_is(0);
	for (uint64_t i = 0; i < PFT_DEPTH_MAX + 20; i++) {
		pft_fake_begin(&first, i, hook);
		drain(&first);
		commit();
	}
	cr_assert_eq(latest(0)->depth, PFT_DEPTH_MAX + 20);
	cr_assert_eq(latest(0)->open[PFT_DEPTH_MAX - 1].ns, session->boot_ns + PFT_DEPTH_MAX - 1);
	cr_assert_eq(latest(1)->serial, 0);
}

Test(commit, leaves_the_whole_record_alone_while_it_fills_the_other)
{
	struct pft_commit before;
	struct pft_commit_thread thread;

	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	drain(&first);
	commit();
	before = *pft_session_commit(session, 1);
	thread = *entry(1, 0);
	pft_fake_end(&first, 2000);
	drain(&first);
	commit();
	cr_assert_eq(memcmp(&before, pft_session_commit(session, 1), sizeof before), 0);
	cr_assert_eq(memcmp(&thread, entry(1, 0), sizeof thread), 0);
	cr_assert_eq(entry(2, 0)->depth, 0);
}

Test(commit, brings_both_records_up_to_date)
{
	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	pft_fake_begin(&second, 1000, hook);
	drain(&first);
	drain(&second);
	commit();
	pft_fake_end(&first, 2000);
	drain(&first);
	commit();
	commit();
	for (uint64_t generation = 2; generation <= 3; generation++) {
		cr_assert_eq(entry(generation, 0)->tail, first.head);
		cr_assert_eq(entry(generation, 0)->depth, 0);
		cr_assert_eq(entry(generation, 2)->tail, second.head);
		cr_assert_eq(entry(generation, 2)->depth, 1);
	}
}

Test(commit, moves_the_counts_of_an_ended_thread_to_the_header)
{
	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	pft_fake_end(&first, 2000);
	drain(&first);
	commit();
	cr_assert_eq(pft_session_commit(session, 1)->written, 0);
	pft_fake_exit(&first, 3000);
	pft_replay_end(replay, 0);
	commit();
	cr_assert_eq(pft_session_commit(session, 2)->written, 2);
	cr_assert_eq(pft_session_commit(session, 2)->produced, 2);
	cr_assert_eq(latest(0)->serial, 1);
	cr_assert_eq(latest(0)->depth, PFT_COMMIT_ENDED);
	cr_assert_eq(latest(0)->written, 0);
	cr_assert_eq(latest(0)->tail, first.head);
}

Test(commit, speaks_of_the_thread_that_has_the_entry_now)
{
	now_is(0);
	pft_fake_begin(&first, 1000, hook);
	drain(&first);
	pft_fake_exit(&first, 3000);
	pft_replay_end(replay, 0);
	commit();
	first = pft_fake_ring(session, 0, 102, "third", first.head);
	pft_fake_begin(&first, 4000, hook);
	drain(&first);
	commit();
	cr_assert_eq(latest(0)->serial, 3);
	cr_assert_eq(latest(0)->depth, 1);
	cr_assert_eq(latest(0)->produced, 1);
}
