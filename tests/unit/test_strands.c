// SPDX-License-Identifier: MIT
// Unit tests of encoder/strands.c, order.c and fibers.c: coroutines that threads take from each other, as a
// model knows them, against what another reader finds in the trace. Run by Criterion.
#include "encoder/strands.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/replay.h"
#include "encoder/session.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define THREADS 3
#define COROUTINES 24
#define CALLS 1500
#define DEPTH 12
#define FRAME_MAX 400
#define STACKS UINT64_C(0x7f0000000000)

static struct pft_session *session;
static struct pft_replay *replay;
static struct pft_fake_ring rings[THREADS];
static uint32_t hook;
static uint64_t now;
static int fd;

static void now_is(uint64_t ns)
{
	pft_replay_clocks(replay, session->start_ticks + ns, pft_fake_clocks(session, ns));
}

static void set_up(void)
{
	session = pft_fake_session(64 << 10, THREADS);
	hook = pft_fake_hook(session, NULL, "f");
	for (uint32_t i = 0; i < THREADS; i++)
		rings[i] = pft_fake_ring(session, i, 100 + i, "worker", 0);
	fd = pft_reader_file();
	replay = pft_replay_open(session, fd, pft_fake_clocks(session, 0));
	cr_assert_not_null(replay);
	now_is(0);
	now = 1000;
}

TestSuite(strands, .init = set_up);

static void drain(uint32_t thread)
{
	pft_replay_drain(replay, rings[thread].index, rings[thread].head, false);
}

static void commit(void)
{
	cr_assert_eq(pft_replay_commit(replay), 0);
}

static void pass(void)
{
	now_is(now);
	for (uint32_t i = 0; i < THREADS; i++)
		drain(i);
	pft_replay_pass(replay, false);
	commit();
}

static struct pft_totals close_trace(void)
{
	struct pft_totals totals;

	cr_assert_eq(pft_replay_close(replay, &totals), 0);
	return totals;
}

// ---- the model --------------------------------------------------------------------------------------

struct call {
	uint64_t begin_ns, end_ns; // 0: it has not ended
	uint64_t slot;
	uint32_t turn;
};

struct coroutine {
	uint64_t top, bottom;
	uint32_t depth;
	struct call *open[DEPTH];
};

static struct call calls[CALLS];
static unsigned made;
static struct coroutine coroutines[COROUTINES];
static uint32_t turns[COROUTINES][65536 / 16];
static uint64_t dice_state;

static uint32_t dice(uint32_t sides)
{
	dice_state = dice_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(dice_state >> 33) % sides;
}

static void make_coroutines(uint64_t stack_bytes)
{
	for (uint64_t i = 0; i < COROUTINES; i++)
		coroutines[i] = (struct coroutine){
			.bottom = STACKS + i * stack_bytes, .top = STACKS + (i + 1) * stack_bytes};
}

static uint32_t *turn_of(const struct coroutine *coroutine, uint64_t slot)
{
	return &turns[coroutine - coroutines][(slot - coroutine->bottom) / 16];
}

static void begin(struct coroutine *coroutine, uint32_t thread)
{
	uint64_t above = coroutine->depth ? coroutine->open[coroutine->depth - 1]->slot : coroutine->top;
	uint64_t frame = 16 * (1 + dice(FRAME_MAX / 16));
	struct call *call = &calls[made];

	if (above - coroutine->bottom < frame || coroutine->depth == DEPTH || made == CALLS)
		return;
	made++;
	*call = (struct call){.begin_ns = ++now, .slot = above - frame};
	call->turn = ++*turn_of(coroutine, call->slot);
	coroutine->open[coroutine->depth++] = call;
	pft_fake_foreign(&rings[thread], now, PFT_BEGIN | hook, call->slot, call->turn);
}

static void end(struct coroutine *coroutine, uint32_t thread)
{
	struct call *call;

	if (!coroutine->depth)
		return;
	call = coroutine->open[--coroutine->depth];
	call->end_ns = ++now;
	pft_fake_foreign(&rings[thread], now, PFT_END, call->slot, call->turn);
}

// One thread runs one coroutine for a while.
static void run(unsigned throws_away)
{
	struct coroutine *coroutine = &coroutines[dice(COROUTINES)];
	uint32_t thread = dice(THREADS);

	for (uint32_t steps = dice(6); steps; steps--) {
		now += dice(50);
		if (dice(9) < 5)
			begin(coroutine, thread);
		else
			end(coroutine, thread);
	}
	if (throws_away && dice(throws_away) == 0)
		coroutine->depth = dice(coroutine->depth + 1);
}

// Threads go on while rings are drained one after the other.
static void drain_in_the_middle(unsigned throws_away)
{
	now_is(now);
	for (uint32_t i = 0; i < THREADS; i++) {
		run(throws_away);
		drain(i);
	}
	pft_replay_pass(replay, false);
	commit();
}

// ---- what is in the trace ---------------------------------------------------------------------------

static const char *line_at(const struct pft_reader_lines *lines, uint64_t begin_ns)
{
	const char *found = NULL;
	char text[64];

	snprintf(text, sizeof text, "\"ts\": %lu,", (unsigned long)(session->boot_ns + begin_ns));
	for (size_t i = 0; i < lines->count; i++) {
		if (!strstr(lines->line[i], text))
			continue;
		cr_assert_null(found, "a call has two slices");
		found = lines->line[i];
	}
	cr_assert_not_null(found, "the call at %lu has no slice", (unsigned long)begin_ns);
	return found;
}

static void check_call(const struct pft_reader_lines *lines, const struct call *call)
{
	const char *line = line_at(lines, call->begin_ns);
	char text[64];

	snprintf(text, sizeof text, "\"dur\": %lu,", (unsigned long)(call->end_ns - call->begin_ns));
	if (call->end_ns)
		cr_assert_not_null(strstr(line, text), "%s is not in %s", text, line);
	else
		cr_assert(strstr(line, "\"dur\": null") || strstr(line, "\"unwound\": true"), "%s", line);
}

static void check_calls(void)
{
	const struct pft_reader_lines *lines;
	struct pft_totals totals;
	unsigned events = made;

	pass();
	totals = close_trace();
	lines = pft_reader_slices(fd);
	for (unsigned i = 0; i < made; i++) {
		check_call(lines, &calls[i]);
		events += calls[i].end_ns != 0;
	}
	cr_assert_eq(totals.produced, events);
	cr_assert_eq(totals.written, events);
	cr_assert_eq(totals.dropped, 0);
}

static void check_schedule(uint64_t stack_bytes, uint64_t seed, unsigned throws_away)
{
	dice_state = seed;
	make_coroutines(stack_bytes);
	while (made < CALLS) {
		run(throws_away);
		if (dice(30) == 0)
			drain_in_the_middle(throws_away);
	}
	check_calls();
}

Test(strands, give_each_call_its_own_times_on_large_stacks)
{
	check_schedule(65536, 1, 0);
}

Test(strands, give_each_call_its_own_times_on_neighbouring_small_stacks)
{
	check_schedule(16384, 2, 0);
}

Test(strands, give_each_call_its_own_times_on_the_smallest_stacks)
{
	check_schedule(4096, 3, 0);
}

Test(strands, give_each_call_its_own_times_while_others_are_thrown_away)
{
	check_schedule(4096, 4, 10);
}

Test(strands, mark_what_was_left_on_large_stacks)
{
	check_schedule(65536, 5, 10);
}

// ---- threads ----------------------------------------------------------------------------------------

#define SLOT_A (STACKS + 0x10000)

static const char *only_line(void)
{
	const struct pft_reader_lines *lines;

	close_trace();
	lines = pft_reader_slices(fd);
	return line_at(lines, 1000);
}

Test(strands, end_a_call_on_another_thread)
{
	const char *line;

	pft_fake_foreign_begin(&rings[0], 1000, hook, SLOT_A);
	pft_fake_foreign_end(&rings[1], 1500, SLOT_A);
	now = 2000;
	pass();
	cr_assert_eq(pft_replay_totals(replay).dropped, 0);
	line = only_line();
	cr_assert_not_null(strstr(line, "\"dur\": 500,"));
	cr_assert_not_null(strstr(line, "\"tid\": 100"));
}

Test(strands, end_a_call_on_a_thread_that_is_drained_first)
{
	pft_fake_foreign_begin(&rings[2], 1000, hook, SLOT_A);
	pft_fake_foreign_end(&rings[0], 1500, SLOT_A);
	now = 2000;
	pass();
	cr_assert_eq(pft_replay_totals(replay).dropped, 0);
	cr_assert_not_null(strstr(only_line(), "\"dur\": 500,"));
}

Test(strands, end_a_call_whose_thread_has_ended)
{
	pft_fake_foreign_begin(&rings[0], 1000, hook, SLOT_A);
	now = 1100;
	pass();
	pft_fake_exit(&rings[0], 1200);
	pft_replay_end(replay, 0);
	commit();
	pft_fake_foreign_end(&rings[1], 1500, SLOT_A);
	now = 2000;
	pass();
	cr_assert_eq(pft_replay_totals(replay).dropped, 0);
	cr_assert_not_null(strstr(only_line(), "\"dur\": 500,"));
}

Test(strands, let_what_is_later_than_the_reading_of_the_clock_wait)
{
	pft_fake_foreign_end(&rings[0], 1500, SLOT_A);
	now = 1400;
	pass();
	cr_assert_not(pft_replay_is_drained(replay, 0));
	cr_assert_eq(pft_replay_tail(replay, 0), 0);
	pft_fake_foreign_begin(&rings[1], 1000, hook, SLOT_A); // its thread was slow to record it
	now = 1600;
	pass();
	cr_assert(pft_replay_is_drained(replay, 0));
	cr_assert_eq(pft_replay_tail(replay, 0), rings[0].head);
	cr_assert_not_null(strstr(only_line(), "\"dur\": 500,"));
}

Test(strands, drop_an_end_whose_begin_was_lost)
{
	pft_fake_foreign(&rings[0], 1000, PFT_BEGIN | hook, SLOT_A, 1);
	pft_fake_foreign(&rings[1], 1500, PFT_END, SLOT_A, 2);
	pft_fake_foreign(&rings[1], 1600, PFT_END, SLOT_A, 1);
	now = 2000;
	pass();
	cr_assert_eq(pft_replay_totals(replay).dropped, 1);
	cr_assert_not_null(strstr(only_line(), "\"dur\": 600,"));
}

// ---- after a kill -----------------------------------------------------------------------------------

static struct pft_strands again;
static struct pft_arena memory;

// What a recovery does: the trace goes on in the same file.
static struct pft_trace *resume(struct pft_fibers *thread)
{
	static const struct pft_filters filters = {.depth_max = PFT_DEPTH_MAX};
	struct pft_commit *kept = pft_session_commit(session, session->generation);
	struct pft_trace *trace = pft_trace_open(session, fd, pft_fake_clocks(session, now), kept->sequences);

	again = (struct pft_strands){.filters = &filters, .arena = &memory};
	again.map.arena = again.fibers.arena = &memory;
	pft_strands_resume(&again, trace, pft_commit_foreign(session, kept), kept->foreign);
	thread->track = pft_trace_thread(trace, 101, "");
	return trace;
}

static void end_again(struct pft_fibers *thread, uint64_t ns, uint64_t slot)
{
	const struct pft_strand_call call = {.ns = session->boot_ns + ns, .slot = slot, .turn = 1};

	pft_strands_end(&again, thread, &call);
}

Test(strands, go_on_where_a_killed_process_left_them)
{
	const struct pft_reader_lines *lines;
	struct pft_fibers thread = {0};
	struct pft_trace *trace;

	pft_fake_foreign_begin(&rings[0], 1000, hook, SLOT_A);
	pft_fake_foreign_begin(&rings[0], 1100, hook, SLOT_A - 64);
	pft_fake_foreign_begin(&rings[0], 1200, hook, SLOT_A - 128);
	pft_fake_foreign_begin(&rings[0], 1300, hook, SLOT_A - 256);
	pft_fake_foreign_end(&rings[0], 1400, SLOT_A - 128); // leaves one in doubt
	now = 1500;
	pass();
	trace = resume(&thread);
	end_again(&thread, 1600, SLOT_A - 64);
	end_again(&thread, 1700, SLOT_A);
	end_again(&thread, 1800, SLOT_A);
	pft_strands_settle(&again, session->boot_ns + 1800);
	cr_assert_eq(again.tally.events.dropped, 1);
	cr_assert_eq(again.tally.events.written, 4);
	cr_assert_eq(pft_trace_close(trace, (struct pft_totals){0}), 0);
	lines = pft_reader_slices(fd);
	check_call(lines, &(struct call){.begin_ns = 1000, .end_ns = 1700});
	check_call(lines, &(struct call){.begin_ns = 1100, .end_ns = 1600});
	check_call(lines, &(struct call){.begin_ns = 1200, .end_ns = 1400});
	check_call(lines, &(struct call){.begin_ns = 1300, .end_ns = 1399});
}

// ---- many -------------------------------------------------------------------------------------------

Test(strands, end_ten_thousand_calls_that_were_open_at_once)
{
	const uint64_t many = 10000;

	for (uint64_t i = 0; i < many; i++) {
		pft_fake_foreign_begin(&rings[0], ++now, hook, SLOT_A + (i << 14));
		pft_fake_foreign_begin(&rings[0], ++now, hook, SLOT_A + (i << 14) - 128);
		if (i % 100 == 0)
			pass();
	}
	pass();
	for (uint64_t i = 0; i < many; i++) {
		uint64_t slot = SLOT_A + ((i * 7919 % many) << 14);

		pft_fake_foreign_end(&rings[1], ++now, slot - 128);
		pft_fake_foreign_end(&rings[1], ++now, slot);
		if (i % 100 == 0)
			pass();
	}
	pass();
	cr_assert_eq(pft_replay_totals(replay).written, 4 * many);
	cr_assert_eq(pft_replay_totals(replay).dropped, 0);
	close_trace();
}

Test(strands, close_a_million_calls_that_were_thrown_away_at_few_slots)
{
	const uint32_t many = 1000000;

	for (uint32_t i = 0; i < many; i++) {
		pft_fake_foreign(
			&rings[0], now += 2, PFT_BEGIN | hook, SLOT_A + ((uint64_t)(i % 8) << 16), 1 + i / 8);
		if (i % 1000 == 0)
			pass();
	}
	pass();
	cr_assert_eq(pft_replay_totals(replay).written, many);
	close_trace();
}
