// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/summary.c: small runs that can be reckoned by hand, and random ones against a
// list of all calls. Run by Criterion.
#include "encoder/report/summary.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ORIGIN UINT64_C(1000000)

static struct pft_summary *summary;
static struct pft_summary_thread *thread;
static struct pft_summary_stack *stack;

static void set_up(void)
{
	summary = pft_summary_open();
	thread = pft_summary_thread(summary, 100, ORIGIN);
	stack = pft_summary_stack(summary, thread);
}

static void tear_down(void)
{
	pft_summary_close(summary);
}

TestSuite(summary, .init = set_up, .fini = tear_down);

static uint32_t function(const char *name)
{
	return pft_summary_function(summary, name, "");
}

static const struct pft_summary_function *of(const char *name)
{
	return &summary->functions[function(name)];
}

static void begin(uint64_t ns, const char *name)
{
	pft_summary_begin(summary, stack, ORIGIN + ns, function(name));
}

static void end(uint64_t ns)
{
	pft_summary_end(summary, stack, ORIGIN + ns, false);
}

static const struct pft_tree_node *child(const struct pft_tree_node *node, const char *name)
{
	for (node = node->children; node != NULL; node = node->next)
		if (node->function == function(name))
			return node;
	cr_assert_fail("%s: no such node", name);
	return NULL;
}

Test(summary, of_a_call_inside_of_another)
{
	begin(0, "outer");
	begin(10, "inner");
	end(30);
	begin(40, "inner");
	end(45);
	end(100);

	cr_assert_eq(summary->calls, 3);
	cr_assert_eq(of("outer")->calls, 1);
	cr_assert_eq(of("outer")->total_ns, 100);
	cr_assert_eq(of("outer")->self_ns, 75);
	cr_assert_eq(of("outer")->inner_calls, 2);
	cr_assert_eq(of("inner")->calls, 2);
	cr_assert_eq(of("inner")->total_ns, 25);
	cr_assert_eq(of("inner")->self_ns, 25);
	cr_assert_eq(of("inner")->min_ns, 5);
	cr_assert_eq(of("inner")->max_ns, 20);
	cr_assert_eq(child(child(summary->tree.root, "outer"), "inner")->total_ns, 25);
}

Test(summary, counts_the_time_of_a_recursion_once)
{
	begin(0, "walk");
	begin(10, "visit");
	begin(20, "walk");
	end(30);
	end(40);
	end(50);

	cr_assert_eq(of("walk")->calls, 2);
	cr_assert_eq(of("walk")->total_ns, 50);
	cr_assert_eq(of("walk")->self_ns, 30);
	cr_assert_eq(of("walk")->inner_all, 2);
	cr_assert_eq(of("visit")->self_ns, 20);
}

Test(summary, knows_functions_of_one_name_in_two_categories)
{
	uint32_t one = pft_summary_function(summary, "same", "liba.so");
	uint32_t other = pft_summary_function(summary, "same", "libb.so");

	cr_assert_neq(one, other);
	cr_assert_eq(pft_summary_function(summary, "same", "liba.so"), one);
}

Test(summary, counts_the_threads_of_a_function)
{
	begin(0, "shared");
	end(1);
	begin(2, "shared");
	end(3);
	for (uint32_t tid = 101; tid < 104; tid++) {
		stack = pft_summary_stack(summary, pft_summary_thread(summary, tid, ORIGIN));
		begin(4, "shared");
		end(5);
	}
	begin(6, "own");
	end(7);

	cr_assert_eq(of("shared")->threads, 4);
	cr_assert_eq(of("own")->threads, 1);
	cr_assert_eq(summary->threads_used, 4);
}

Test(summary, knows_a_thread_that_calls_after_its_end)
{
	struct pft_summary_thread *again;

	pft_summary_thread_end(summary, thread, ORIGIN + 50);
	again = pft_summary_thread(summary, 100, ORIGIN + 60);
	cr_assert_eq(again, thread);
	stack = pft_summary_stack(summary, again);
	begin(60, "free");
	end(70);
	pft_summary_thread_end(summary, again, ORIGIN + 900);
	cr_assert_eq(summary->threads_used, 1);
	cr_assert(thread->ended);
	cr_assert_eq(pft_summary_life_ns(summary, thread), 70);
}

Test(summary, takes_a_number_that_comes_again_later_for_another_thread)
{
	uint64_t later_ns = ORIGIN + 50 + PFT_SUMMARY_LATE_NS;

	cr_assert_neq(pft_summary_thread(summary, 101, ORIGIN), thread);
	pft_summary_thread_end(summary, thread, ORIGIN + 50);
	cr_assert_neq(pft_summary_thread(summary, 100, later_ns), thread);
	cr_assert_eq(summary->threads_used, 3);
}

Test(summary, counts_long_waits_and_only_the_outermost_for_the_thread)
{
	begin(0, "pthread_cond_wait");
	begin(1000, "pthread_mutex_lock");
	end(8000);
	end(9000);
	begin(10000, "pthread_mutex_lock");
	end(10000 + PFT_SUMMARY_WAIT_NS - 1);

	cr_assert_eq(of("pthread_mutex_lock")->waits, 1);
	cr_assert_eq(of("pthread_mutex_lock")->wait_ns, 7000);
	cr_assert_eq(of("pthread_cond_wait")->wait_ns, 9000);
	cr_assert_eq(thread->waiting_ns, 9000);
	cr_assert_eq(thread->strip.waiting_ns[0], 9000);
}

Test(summary, keeps_the_slowest_calls_in_order)
{
	uint64_t ns = 0;

	for (unsigned i = 0; i < 10 * PFT_SUMMARY_SLOWEST; i++) {
		uint64_t duration = 1 + (i * 7919) % 997;

		begin(ns, "call");
		end(ns + duration);
		ns += 1000;
	}
	cr_assert_eq(summary->slowest_used, PFT_SUMMARY_SLOWEST);
	for (unsigned i = 0; i < PFT_SUMMARY_SLOWEST; i++)
		cr_assert_geq(summary->slowest[i ? i - 1 : 0].duration_ns, summary->slowest[i].duration_ns);
	cr_assert_eq(summary->slowest[0].duration_ns, of("call")->max_ns);
	cr_assert_eq(summary->slowest[0].thread, thread);
}

Test(summary, counts_what_never_returned)
{
	begin(0, "main");
	begin(10, "exit");
	pft_summary_stack_give_back(summary, stack);

	cr_assert_eq(of("main")->open, 1);
	cr_assert_eq(of("exit")->open, 1);
	cr_assert_eq(summary->calls, 0);
}

Test(summary, knows_what_has_not_returned_yet)
{
	begin(0, "outer");
	begin(10, "outer");
	cr_assert_eq(of("outer")->open, 2);
	end(20);
	cr_assert_eq(of("outer")->open, 1);
	end(30);
	cr_assert_eq(of("outer")->open, 0);
}

Test(summary, knows_calls_that_are_on_no_stack)
{
	struct pft_summary_thread *other = pft_summary_thread(summary, 200, ORIGIN);
	struct pft_summary_frame outer, inner;

	pft_summary_enter(summary, thread, NULL, &outer, ORIGIN, function("outer"));
	pft_summary_enter(summary, other, &outer, &inner, ORIGIN + 10, function("inner"));
	pft_summary_leave(summary, other, &outer, &inner, ORIGIN + 40, false);
	pft_summary_leave(summary, thread, NULL, &outer, ORIGIN + 100, true);

	cr_assert_eq(of("outer")->self_ns, 70);
	cr_assert_eq(of("outer")->unwound, 1);
	cr_assert_eq(child(child(summary->tree.root, "outer"), "inner")->calls, 1);
	cr_assert_eq(thread->calls, 1);
	cr_assert_eq(other->calls, 1);
}

Test(summary, forgets_open_calls_at_a_gap)
{
	begin(0, "lost");
	pft_summary_gap(summary, stack, 12);
	end(10);
	begin(20, "after");
	end(30);

	cr_assert_eq(summary->dropped, 12);
	cr_assert_eq(of("lost")->calls, 0);
	cr_assert_eq(of("lost")->open, 0);
	cr_assert_eq(of("after")->calls, 1);
	cr_assert_eq(child(summary->tree.root, "after")->calls, 1);
}

Test(summary, holds_calls_of_any_depth)
{
	for (unsigned i = 0; i < 2 * PFT_DEPTH_MAX; i++)
		begin(i, "down");
	for (unsigned i = 0; i < 2 * PFT_DEPTH_MAX; i++)
		end(2 * PFT_DEPTH_MAX + i);

	cr_assert_eq(of("down")->calls, PFT_DEPTH_MAX);
	cr_assert_eq(of("down")->total_ns, 4 * PFT_DEPTH_MAX - 1);
}

// ---- against a list of all calls --------------------------------------------------------------------

#define CALLS 20000
#define FUNCTIONS 17

struct call {
	unsigned function;
	int caller;
	uint64_t begin, end;
};

static struct call calls[CALLS];

static const char *name_of(unsigned function)
{
	static char name[16];

	snprintf(name, sizeof name, "f%u", function);
	return name;
}

static void run_at_random(void)
{
	uint64_t ns = 0;
	int open = -1, made = 0;

	while (made < CALLS || open >= 0) {
		ns += (uint64_t)rand() % 100;
		if (made < CALLS && (open < 0 || rand() % 2)) {
			calls[made] = (struct call){(unsigned)rand() % FUNCTIONS, open, ns, 0};
			begin(ns, name_of(calls[made].function));
			open = made++;
		} else {
			calls[open].end = ns;
			end(ns);
			open = calls[open].caller;
		}
	}
}

static bool is_inside_itself(const struct call *call)
{
	for (int caller = call->caller; caller >= 0; caller = calls[caller].caller)
		if (calls[caller].function == call->function)
			return true;
	return false;
}

Test(summary, agrees_with_a_list_of_all_calls)
{
	uint64_t count[FUNCTIONS] = {0}, total[FUNCTIONS] = {0}, self[FUNCTIONS] = {0},
		 inner[FUNCTIONS] = {0};

	run_at_random();
	for (int i = 0; i < CALLS; i++) {
		const struct call *call = &calls[i];

		count[call->function]++;
		self[call->function] += call->end - call->begin;
		if (!is_inside_itself(call))
			total[call->function] += call->end - call->begin;
		if (call->caller >= 0) {
			self[calls[call->caller].function] -= call->end - call->begin;
			inner[calls[call->caller].function]++;
		}
	}
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		cr_assert_eq(of(name_of(i))->calls, count[i]);
		cr_assert_eq(of(name_of(i))->total_ns, total[i]);
		cr_assert_eq(of(name_of(i))->self_ns, self[i]);
		cr_assert_eq(of(name_of(i))->inner_calls, inner[i]);
		cr_assert_eq(of(name_of(i))->durations.count, count[i]);
	}
}

static void add_up(const struct pft_tree_node *node, uint64_t *sum_calls, uint64_t *sum_self)
{
	*sum_calls += node->calls;
	*sum_self += node->self_ns;
	for (const struct pft_tree_node *inner = node->children; inner != NULL; inner = inner->next)
		add_up(inner, sum_calls, sum_self);
}

Test(summary, has_each_call_in_the_tree_once)
{
	uint64_t sum_calls = 0, sum_self = 0, functions_self = 0;

	run_at_random();
	add_up(summary->tree.root, &sum_calls, &sum_self);
	for (uint32_t i = 1; i <= summary->functions_used; i++)
		functions_self += summary->functions[i].self_ns;
	cr_assert_eq(sum_calls, CALLS);
	cr_assert_eq(sum_self, functions_self);
	cr_assert(!summary->incomplete);
}
