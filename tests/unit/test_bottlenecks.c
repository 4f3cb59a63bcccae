// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/bottlenecks.c and its rules: for each type a run that has it and one that just
// has not. Run by Criterion.
#include "encoder/report/bottlenecks.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define ORIGIN (UINT64_C(5000) * MS)

static const struct pft_probe no_probe = {0, 0};

static struct pft_summary *summary;
static struct pft_bottlenecks found;

// A thread of the run, and the time that it has come to.
struct worker {
	struct pft_summary_thread *thread;
	struct pft_summary_stack *stack;
	uint64_t ns;
};

static void set_up(void)
{
	summary = pft_summary_open();
}

static void tear_down(void)
{
	pft_summary_close(summary);
}

TestSuite(bottlenecks, .init = set_up, .fini = tear_down);

static struct worker worker(const char *name)
{
	struct worker worker = {
		.thread = pft_summary_thread(summary, summary->threads_used + 1, ORIGIN), .ns = ORIGIN};

	pft_summary_thread_name(summary, worker.thread, name);
	worker.stack = pft_summary_stack(summary, worker.thread);
	return worker;
}

static void begin(struct worker *worker, const char *name)
{
	pft_summary_begin(summary, worker->stack, worker->ns, pft_summary_function(summary, name, ""));
}

static void pass(struct worker *worker, uint64_t ns)
{
	worker->ns += ns;
}

static void end(struct worker *worker)
{
	pft_summary_end(summary, worker->stack, worker->ns, false);
}

static void call(struct worker *worker, const char *name, uint64_t ns)
{
	begin(worker, name);
	pass(worker, ns);
	end(worker);
}

static void leave(struct worker *worker)
{
	pft_summary_thread_end(summary, worker->thread, worker->ns);
}

static const struct pft_bottleneck *find(enum pft_bottleneck_type type, struct pft_probe probe)
{
	pft_bottlenecks_find(&found, summary, probe);
	for (uint32_t i = 0; i < found.count; i++)
		if (found.found[i].type == type)
			return &found.found[i];
	return NULL;
}

static const struct pft_bottleneck *must_find(enum pft_bottleneck_type type)
{
	const struct pft_bottleneck *bottleneck = find(type, no_probe);

	cr_assert_not_null(bottleneck);
	cr_assert(*bottleneck->place != '\0' && *bottleneck->evidence != '\0');
	return bottleneck;
}

static void lock(unsigned waits, uint64_t wait_ns, uint64_t work_ns)
{
	struct worker main = worker("main");

	for (unsigned i = 0; i < waits; i++) {
		begin(&main, "update");
		call(&main, "pthread_mutex_lock", wait_ns);
		pass(&main, work_ns);
		end(&main);
	}
}

Test(bottlenecks, are_locks_that_are_waited_for)
{
	const struct pft_bottleneck *bottleneck;

	lock(20, 100 * US, 100 * US);
	bottleneck = must_find(PFT_BOTTLENECK_LOCK);
	cr_assert_str_eq(bottleneck->place, "update > pthread_mutex_lock");
	cr_assert_str_eq(bottleneck->evidence,
		"20 waits of 20 calls took 2.0 ms, 50 % of the thread's time; the longest took 100 us");
	cr_assert_eq(bottleneck->severity, PFT_SEVERITY_HIGH);
	cr_assert_eq(bottleneck->cost_ns, 2 * MS);
}

Test(bottlenecks, are_not_locks_that_are_free)
{
	lock(20000, 100, 100 * US);
	cr_assert_null(find(PFT_BOTTLENECK_LOCK, no_probe));
}

Test(bottlenecks, are_not_a_few_waits_for_a_lock)
{
	lock(9, 100 * US, 0);
	cr_assert_null(find(PFT_BOTTLENECK_LOCK, no_probe));
}

Test(bottlenecks, are_reads_that_wait)
{
	struct worker main = worker("main");

	call(&main, "read", 3 * MS);
	pass(&main, 7 * MS);
	call(&main, "write", 0);
	cr_assert_str_eq(must_find(PFT_BOTTLENECK_IO)->place, "read");
	cr_assert_eq(found.count, 1);
}

Test(bottlenecks, are_not_reads_of_what_is_there)
{
	struct worker main = worker("main");

	for (unsigned i = 0; i < 100; i++)
		call(&main, "read", 4 * US);
	cr_assert_null(find(PFT_BOTTLENECK_IO, no_probe));
}

Test(bottlenecks, are_long_sleeps)
{
	struct worker main = worker("main");

	call(&main, "nanosleep", 100 * MS);
	call(&main, "work", 800 * MS);
	must_find(PFT_BOTTLENECK_SLEEP);
	cr_assert_null(find(PFT_BOTTLENECK_POLL, no_probe));
}

Test(bottlenecks, are_not_rare_sleeps)
{
	struct worker main = worker("main");

	call(&main, "nanosleep", 99 * MS);
	call(&main, "work", 901 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_SLEEP, no_probe));
}

static void poll_often(const char *name, unsigned waits, uint64_t wait_ns)
{
	struct worker main = worker("main");

	for (unsigned i = 0; i < waits; i++) {
		call(&main, name, wait_ns);
		call(&main, "look", 10 * US);
	}
}

Test(bottlenecks, are_short_sleeps_again_and_again)
{
	poll_often("usleep", 50, MS);
	must_find(PFT_BOTTLENECK_POLL);
	cr_assert_null(find(PFT_BOTTLENECK_SLEEP, no_probe));
}

Test(bottlenecks, are_waits_with_a_short_limit_again_and_again)
{
	poll_often("poll", 60, 2 * MS);
	must_find(PFT_BOTTLENECK_POLL);
}

Test(bottlenecks, are_not_waits_for_another_thread)
{
	poll_often("pthread_cond_wait", 60, 2 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_POLL, no_probe));
}

Test(bottlenecks, are_not_long_waits_for_a_descriptor)
{
	poll_often("poll", 60, 25 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_POLL, no_probe));
}

Test(bottlenecks, are_functions_that_take_the_time)
{
	struct worker main = worker("main");

	begin(&main, "run");
	call(&main, "compress", 80 * MS);
	pass(&main, 20 * MS);
	end(&main);
	cr_assert_str_eq(must_find(PFT_BOTTLENECK_CPU)->place, "run > compress");
	cr_assert_eq(found.count, 1);
	cr_assert_eq(found.found[0].severity, PFT_SEVERITY_CRITICAL);
}

Test(bottlenecks, are_not_functions_that_call_what_takes_the_time)
{
	struct worker main = worker("main");

	begin(&main, "run");
	for (unsigned i = 0; i < 10; i++)
		call(&main, (const char *[]){"a", "b", "c", "d", "e"}[i % 5], 10 * MS);
	end(&main);
	cr_assert_null(find(PFT_BOTTLENECK_CPU, no_probe));
}

static void storm(unsigned calls, uint64_t call_ns)
{
	struct worker main = worker("main");

	for (unsigned i = 0; i < calls; i++) {
		call(&main, "tick", call_ns);
		pass(&main, 20);
	}
}

Test(bottlenecks, are_calls_that_are_mostly_recording)
{
	const struct pft_bottleneck *bottleneck;

	storm(10000, 30);
	bottleneck = find(PFT_BOTTLENECK_STORM, (struct pft_probe){20, 10});
	cr_assert_not_null(bottleneck);
	cr_assert_eq(bottleneck->cost_ns, 10000 * 30);
}

Test(bottlenecks, are_not_calls_that_do_something)
{
	storm(10000, 41);
	cr_assert_null(find(PFT_BOTTLENECK_STORM, (struct pft_probe){20, 10}));
}

Test(bottlenecks, are_not_a_few_short_calls)
{
	storm(9999, 30);
	cr_assert_null(find(PFT_BOTTLENECK_STORM, (struct pft_probe){20, 10}));
}

// Two threads of which the second waits `waiting_ns` of 100 ms.
static void pair(uint64_t waiting_ns)
{
	struct worker main = worker("main"), helper = worker("helper");

	call(&main, "work", 100 * MS);
	call(&helper, "pthread_cond_wait", waiting_ns);
	call(&helper, "work", 100 * MS - waiting_ns);
	leave(&helper);
}

Test(bottlenecks, are_phases_in_which_one_thread_works)
{
	const struct pft_bottleneck *bottleneck;

	pair(60 * MS);
	bottleneck = must_find(PFT_BOTTLENECK_SERIAL);
	cr_assert_gt(bottleneck->share, 0.55);
	cr_assert_lt(bottleneck->share, 0.62);
	cr_assert_eq(bottleneck->at_ns, ORIGIN);
}

Test(bottlenecks, are_not_threads_that_work_at_one_time)
{
	pair(15 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_SERIAL, no_probe));
}

Test(bottlenecks, are_not_programs_of_one_thread)
{
	struct worker main = worker("main");

	call(&main, "work", 100 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_SERIAL, no_probe));
}

Test(bottlenecks, are_not_threads_that_all_wait)
{
	struct worker main = worker("main"), helper = worker("helper");

	call(&main, "pthread_join", 100 * MS);
	call(&helper, "read", 100 * MS);
	leave(&helper);
	cr_assert_null(find(PFT_BOTTLENECK_SERIAL, no_probe));
}

static void share(uint64_t first_ns, uint64_t other_ns)
{
	struct worker main = worker("main");

	for (unsigned i = 0; i < 4; i++) {
		struct worker helper = worker("worker");

		call(&helper, "work", i == 0 ? first_ns : other_ns);
		leave(&helper);
	}
	call(&main, "pthread_join", first_ns);
}

Test(bottlenecks, are_threads_that_share_unevenly)
{
	share(100 * MS, 20 * MS);
	cr_assert_str_eq(must_find(PFT_BOTTLENECK_IMBALANCE)->place, "worker");
	cr_assert_eq(must_find(PFT_BOTTLENECK_IMBALANCE)->cost_ns, 60 * MS);
}

Test(bottlenecks, are_not_threads_that_share_evenly)
{
	share(100 * MS, 60 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_IMBALANCE, no_probe));
}

Test(bottlenecks, are_losses_of_events)
{
	struct worker main = worker("main");

	call(&main, "work", 100 * MS);
	cr_assert_null(find(PFT_BOTTLENECK_RECORDING, no_probe));
	pft_summary_gap(summary, main.stack, 1);
	cr_assert_eq(must_find(PFT_BOTTLENECK_RECORDING)->severity, PFT_SEVERITY_HIGH);
}

Test(bottlenecks, are_waits_for_the_flusher)
{
	struct worker main = worker("main");

	call(&main, "work", 100 * MS);
	call(&main, "pftshim: ring full", MS / 2);
	cr_assert_null(find(PFT_BOTTLENECK_RECORDING, no_probe));
	call(&main, "pftshim: ring full", MS);
	must_find(PFT_BOTTLENECK_RECORDING);
}

Test(bottlenecks, are_listed_with_the_worst_first)
{
	static const char *const names[] = {"read", "write", "recv", "send", "fsync", "connect"};
	struct worker main = worker("main");

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
		call(&main, names[i], (3 + (7 * i) % 6) * 10 * MS);
	pft_bottlenecks_find(&found, summary, no_probe);
	cr_assert_gt(found.count, 4);
	for (uint32_t i = 1; i < found.count; i++)
		cr_assert(found.found[i - 1].severity > found.found[i].severity ||
			  found.found[i - 1].share >= found.found[i].share);
}

Test(bottlenecks, are_no_waits_of_less_than_a_millisecond)
{
	struct worker main = worker("main");

	call(&main, "read", MS / 2);
	call(&main, "usleep", MS / 2);
	pft_bottlenecks_find(&found, summary, no_probe);
	cr_assert_eq(found.count, 0);
	call(&main, "read", MS);
	pft_bottlenecks_find(&found, summary, no_probe);
	cr_assert_eq(found.count, 1);
}

Test(bottlenecks, of_nothing_are_none)
{
	pft_bottlenecks_find(&found, summary, no_probe);
	cr_assert_eq(found.count, 0);
}

Test(bottlenecks, have_words)
{
	for (unsigned type = 0; type < PFT_BOTTLENECK_TYPES; type++) {
		const struct pft_bottleneck_words *words = pft_bottleneck_words(type);

		cr_assert(words->name && words->title && words->description && words->threshold &&
			  words->suggestion);
	}
}
