// SPDX-License-Identifier: MIT
// Unit tests of encoder/watch.c: what threads record, through the replay, into a report. Run by Criterion.
#include "encoder/watch.h"

#include <criterion/criterion.h>
#include <string.h>

#include "encoder/replay.h"
#include "encoder/session.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define STACK UINT64_C(0x7f0000010000)

static struct pft_session *session;
static struct pft_replay *replay;
static struct pft_watch *watch;
static struct pft_fake_ring ring;
static uint32_t outer, inner;
static struct pft_report report;

static void set_up(void)
{
	session = pft_fake_session(64 << 10, 2);
	outer = pft_fake_hook(session, "libx.so.1", "outer");
	inner = pft_fake_hook(session, "libx.so.1", "inner");
	ring = pft_fake_ring(session, 0, 100, "worker", 0);
	watch = pft_watch_open(session);
	cr_assert_not_null(watch);
}

static void tear_down(void)
{
	pft_watch_close(watch);
	pft_fake_free(session);
}

TestSuite(watch, .init = set_up, .fini = tear_down);

// What is recorded goes the whole way; the session's filters are set before.
static void replay_all(void)
{
	struct pft_totals totals;

	replay = pft_replay_open(session, pft_reader_file(), pft_fake_clocks(session, 0));
	cr_assert_not_null(replay);
	pft_replay_watch(replay, watch);
	pft_replay_clocks(replay, session->start_ticks, pft_fake_clocks(session, 0));
	pft_replay_drain(replay, ring.index, ring.head, false);
	pft_replay_pass(replay, true);
	if (ring.thread->state == PFT_THREAD_ENDED)
		pft_replay_end(replay, ring.index);
	cr_assert_eq(pft_replay_close(replay, &totals), 0);
	cr_assert_eq(pft_watch_report(watch, totals, &report), 0);
}

static const struct pft_summary_function *of(const char *name)
{
	for (uint32_t i = 0; i < report.functions; i++)
		if (strcmp(pft_report_name(&report, report.order[i]), name) == 0)
			return &report.summary->functions[report.order[i]];
	cr_assert_fail("%s: no such function", name);
	return NULL;
}

static void call_outer_and_inner(void)
{
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, inner);
	pft_fake_end(&ring, 5000);
	pft_fake_end(&ring, 9000);
}

Test(watch, reports_calls_under_the_names_of_the_trace)
{
	call_outer_and_inner();
	pft_fake_exit(&ring, 10000);
	replay_all();

	cr_assert_eq(of("libx.so.1::outer")->calls, 1);
	cr_assert_eq(of("libx.so.1::outer")->total_ns, 8000);
	cr_assert_eq(of("libx.so.1::outer")->self_ns, 5000);
	cr_assert_eq(of("libx.so.1::inner")->self_ns, 3000);
	cr_assert_eq(report.totals.written, 4);
	cr_assert_eq(report.pid, session->pid);
	cr_assert_eq(report.summary->threads_used, 1);
	cr_assert_eq(report.summary->threads->tid, 100);
	cr_assert(report.summary->threads->ended);
	cr_assert_str_eq(pft_strings_text(&report.summary->strings, report.summary->threads->name), "worker");
}

Test(watch, counts_what_filters_leave_out_of_the_trace)
{
	session->min_duration_ns = 1000000;
	session->max_depth = 1;
	call_outer_and_inner();
	replay_all();

	cr_assert_eq(report.totals.written, 0);
	cr_assert_eq(of("libx.so.1::outer")->calls, 1);
	cr_assert_eq(of("libx.so.1::inner")->calls, 1);
}

Test(watch, knows_what_never_returned)
{
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 2000, inner);
	replay_all();

	cr_assert_eq(of("libx.so.1::outer")->open, 1);
	cr_assert_eq(of("libx.so.1::inner")->open, 1);
	cr_assert_eq(report.summary->calls, 0);
}

Test(watch, ends_the_calls_of_a_thread_that_is_over)
{
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_exit(&ring, 4000);
	replay_all();

	cr_assert_eq(of("libx.so.1::outer")->unwound, 1);
	cr_assert_eq(of("libx.so.1::outer")->total_ns, 3000);
}

Test(watch, forgets_what_is_open_where_events_were_lost)
{
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_gap(&ring, 2000, 10, 1);
	pft_fake_begin(&ring, 3000, inner);
	pft_fake_end(&ring, 4000);
	pft_fake_end(&ring, 5000);
	replay_all();

	cr_assert_eq(report.summary->dropped, 10);
	cr_assert_eq(report.functions, 1);
	cr_assert_eq(of("libx.so.1::inner")->calls, 1);
}

Test(watch, ends_what_is_open_when_the_window_is_closed)
{
	pft_fake_begin(&ring, 1000, outer);
	session->closed_ticks = session->start_ticks + 3000;
	pft_fake_pause(&ring, 5000, 1);
	pft_fake_end(&ring, 6000);
	replay_all();

	cr_assert_eq(of("libx.so.1::outer")->calls, 1);
	cr_assert_eq(of("libx.so.1::outer")->total_ns, 2000);
}

Test(watch, knows_who_calls_on_other_stacks)
{
	pft_fake_foreign_begin(&ring, 1000, outer, STACK);
	pft_fake_foreign_begin(&ring, 2000, inner, STACK - 64);
	pft_fake_foreign_end(&ring, 5000, STACK - 64);
	pft_fake_foreign_end(&ring, 9000, STACK);
	replay_all();

	cr_assert_eq(of("libx.so.1::outer")->total_ns, 8000);
	cr_assert_eq(of("libx.so.1::outer")->self_ns, 5000);
	cr_assert_eq(report.summary->tree.root->children->children->function,
		(uint32_t)(of("libx.so.1::inner") - report.summary->functions));
}

Test(watch, reports_more_than_once)
{
	call_outer_and_inner();
	replay_all();
	cr_assert_eq(pft_watch_report(watch, report.totals, &report), 0);

	cr_assert_eq(report.functions, 2);
	cr_assert_eq(of("libx.so.1::outer")->calls, 1);
	cr_assert_null(report.nodes[report.order[0]]->same);
}
