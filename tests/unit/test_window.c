// SPDX-License-Identifier: MIT
// The recording window, as a thread that records meets it.
#include "shim/hot/window.h"

#include <criterion/criterion.h>
#include <time.h>

#include "shim/hot/clock.h"
#include "shim/hot/self.h"
#include "tests/unit/seated.h"

static void nothing(void)
{
	__asm__ volatile("");
}

static void (*a)(void), (*b)(void);
static uint32_t id_b;

static void start(struct pft_edge start_edge, struct pft_edge stop_edge)
{
	seated_start(PFT_CLOCK_TSC);
	a = seated_hook(nothing);
	b = seated_hook(nothing);
	id_b = seated_hook_id(b);
	pft_window_start(start_edge, stop_edge);
}

static const struct pft_edge none = {PFT_EDGE_NONE, 0}, by_call = {PFT_EDGE_CALL, 0},
			     asked = {PFT_EDGE_ASKED, 0};

Test(window, is_open_unless_a_start_is_to_come)
{
	start(none, none);
	a();
	cr_assert_str_eq(seated_records(), "+a -a");
	cr_assert_eq(pft_window_due_ns(), UINT64_MAX);
}

Test(window, records_nothing_until_it_is_opened)
{
	start(asked, none);
	a();
	cr_assert_str_eq(seated_records(), "");
	pft_window_open();
	a();
	cr_assert_str_eq(seated_records(), "+a -a");
}

Test(window, counts_nothing_as_dropped_while_it_is_closed)
{
	start(asked, none);
	a();
	cr_assert_eq(pft_self->dropped_unsaid, 0);
	cr_assert_eq(pft_self->entry->dropped, 0);
}

static void (*inside)(void);

static void call_inside(void)
{
	inside();
}

static void close_and_call(void)
{
	pft_window_close();
	a();
}

static void close_and_open(void)
{
	pft_window_close();
	pft_window_open();
}

Test(window, closes_for_calls_that_are_open)
{
	void (*outer)(void);

	start(none, none);
	outer = seated_hook(call_inside);
	inside = close_and_call;
	outer();
	cr_assert_str_eq(seated_records(), "+c", "its end is outside");
}

Test(window, says_how_many_calls_are_still_open_when_it_has_opened_again)
{
	void (*outer)(void);

	start(none, none);
	outer = seated_hook(call_inside);
	inside = close_and_open;
	outer();
	cr_assert_str_eq(seated_records(), "+c |:1 -c");
}

Test(window, forgets_calls_that_ended_while_it_was_closed)
{
	void (*outer)(void);

	start(none, none);
	outer = seated_hook(call_inside);
	inside = pft_window_close;
	outer();
	pft_window_open();
	a();
	cr_assert_str_eq(seated_records(), "+c |:0 +a -a");
}

static void call_foreign(void)
{
	void (*outer)(void) = seated_hook(call_inside);

	outer();
}

Test(window, forgets_calls_on_other_stacks_of_an_earlier_one)
{
	start(none, none);
	inside = close_and_open;
	seated_elsewhere(call_foreign);
	a();
	cr_assert_str_eq(seated_records(), "+c@1 |:0 +a -a");
	cr_assert_eq((uint32_t)pft_self->foreign_open, 0);
}

Test(window, opens_with_the_first_call_of_a_marked_function)
{
	start(by_call, none);
	pft_window_marks[id_b] = PFT_MARK_START;
	a();
	b();
	a();
	cr_assert_str_eq(seated_records(), "+b -b +a -a");
}

Test(window, closes_before_the_first_call_of_a_marked_function)
{
	start(none, by_call);
	pft_window_marks[id_b] = PFT_MARK_STOP;
	a();
	a();
	b();
	a();
	cr_assert_str_eq(seated_records(), "+a -a +a -a");
	pft_window_open();
	b();
	cr_assert_str_eq(seated_records(), "|:0 +b -b", "the function does it once");
}

Test(window, opens_after_so_many_events)
{
	start((struct pft_edge){PFT_EDGE_EVENTS, 6}, none);
	for (unsigned i = 0; i < 4; i++)
		a();
	cr_assert_str_eq(seated_records(), "+a -a");
}

Test(window, closes_when_so_many_events_are_counted)
{
	start(none, (struct pft_edge){PFT_EDGE_EVENTS, 6});
	cr_assert(pft_window_counts());
	pft_window_count(5);
	cr_assert(pft_window_counts());
	pft_window_count(6);
	a();
	cr_assert_not(pft_window_counts());
	cr_assert_str_eq(seated_records(), "");
}

Test(window, keeps_its_times)
{
	uint64_t second = 1000000000, now_ns = pft_clock_ns(CLOCK_MONOTONIC), due_ns;

	start((struct pft_edge){PFT_EDGE_DELAY, 5 * second}, (struct pft_edge){PFT_EDGE_DELAY, 7 * second});
	due_ns = pft_window_due_ns();
	cr_assert_geq(due_ns, now_ns + 5 * second);
	pft_window_look(due_ns - 1);
	a();
	pft_window_look(due_ns);
	a();
	due_ns = pft_window_due_ns();
	cr_assert_geq(due_ns, now_ns + 7 * second, "counted from the opening");
	cr_assert_leq(due_ns, pft_clock_ns(CLOCK_MONOTONIC) + 7 * second);
	pft_window_look(due_ns);
	a();
	cr_assert_str_eq(seated_records(), "+a -a");
	cr_assert_eq(pft_window_due_ns(), UINT64_MAX);
}

Test(window, is_closed_once_when_it_is_closed_twice)
{
	start(none, none);
	pft_window_close();
	cr_assert(pft_window_is_closed(pft_session_window(pft_session)));
	pft_window_close();
	cr_assert_eq(pft_session->window, 3, "closing twice is closing once");
	pft_window_open();
	pft_window_open();
	cr_assert_eq(pft_session->window, 2);
}
