// SPDX-License-Identifier: MIT
// Unit tests of encoder/diff/ and encoder/report/spread.c: what is taken for a change. Run by Criterion.
#include "encoder/diff/compare.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "encoder/diff/student.h"
#include "encoder/report/spread.h"

#define MS UINT64_C(1000000)

static void is_near(double value, double wanted, double share)
{
	cr_assert(fabs(value - wanted) <= share * fabs(wanted), "%.9g where %.9g is wanted", value, wanted);
}

// Numbers from 0 to 1 that are the same in every run.
static double random_share(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

// ---- Student's t ------------------------------------------------------------------------------------

// Tables of the distribution have these.
Test(student, knows_what_tables_say)
{
	is_near(pft_student_chance(12.706, 1), 0.05, 1e-3);
	is_near(pft_student_chance(-4.303, 2), 0.05, 1e-3);
	is_near(pft_student_chance(2.228, 10), 0.05, 1e-3);
	is_near(pft_student_chance(3.169, 10), 0.01, 1e-3);
	is_near(pft_student_chance(2.576, 1e6), 0.01, 1e-3);
	is_near(pft_student_chance(4.587, 10), 0.001, 1e-3);
}

// With one degree of freedom it is Cauchy's, with two it has a closed form.
Test(student, agrees_with_closed_forms)
{
	for (double t = 0.01; t < 1000; t *= 1.7) {
		is_near(pft_student_chance(t, 1), 1 - 2 * atan(t) / M_PI, 1e-7);
		is_near(pft_student_chance(t, 2), 1 - t / sqrt(2 + t * t), 1e-6);
	}
}

Test(student, is_certain_at_nothing_and_vanishes_far_out)
{
	is_near(pft_student_chance(0, 5), 1, 1e-12);
	cr_assert_lt(pft_student_chance(50, 30), 1e-20);
	cr_assert_geq(pft_student_chance(1e200, 30), 0);
	is_near(pft_student_chance(1, 2.5), 0.4063, 1e-2);
}

// ---- the spread of calls ----------------------------------------------------------------------------

static struct pft_spread spread;

static struct pft_typical typical(void)
{
	return pft_spread_typical(&spread);
}

Test(spread, of_few_calls_is_not_known)
{
	cr_assert_eq(typical().ns, 0);
	for (uint64_t i = 1; i <= 5; i++) {
		pft_spread_add(&spread, i);
		cr_assert_eq(typical().freedom, 0);
	}
	is_near(typical().ns, 15, 1e-9);
}

// By hand: 60 and 70 are left out, and 50 stands in for them. The mean is 30 then, the squares are 1571.4.
Test(spread, of_some_calls_is_that_of_the_faster_ones)
{
	for (uint64_t i = 7; i >= 1; i--)
		pft_spread_add(&spread, 10 * i);
	is_near(typical().ns, 7 * 30, 1e-9);
	is_near(typical().variance_ns2, 49 * 1571.4286 / 5 / 4, 1e-6);
	is_near(typical().freedom, 4, 1e-9);
}

Test(spread, of_calls_that_are_alike_is_their_sum)
{
	for (int i = 0; i < 1000; i++)
		pft_spread_add(&spread, 70);
	is_near(typical().ns, 70000, 1e-9);
	cr_assert_lt(typical().variance_ns2, 1e-9);
}

Test(spread, a_call_that_was_interrupted_does_not_count)
{
	for (int i = 0; i < 1000; i++)
		pft_spread_add(&spread, i % 200 == 0 ? 10000000 : 100);
	is_near(typical().ns, 100000, 1e-9);
}

// What the variance says is how sums of other calls of the kind come out.
Test(spread, tells_how_sums_of_independent_calls_come_out)
{
	enum { REPEATS = 300 };
	double sums[REPEATS], mean = 0, told = 0, seen = 0;

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		spread = (struct pft_spread){.batch = 0};
		for (int i = 0; i < 3000; i++)
			pft_spread_add(&spread, (uint64_t)(1200 * random_share()));
		sums[repeat] = typical().ns;
		mean += sums[repeat] / REPEATS;
		told += typical().variance_ns2 / REPEATS;
	}
	for (int repeat = 0; repeat < REPEATS; repeat++)
		seen += (sums[repeat] - mean) * (sums[repeat] - mean) / (REPEATS - 1);
	is_near(mean, 3000 * 599.5, 0.02);
	cr_assert(told > 0.7 * seen && told < 2 * seen, "told %g, seen %g", told, seen);
}

Test(spread, of_calls_that_are_slow_together_is_larger)
{
	double mixed;

	for (int i = 0; i < 4096; i++)
		pft_spread_add(&spread, i % 2 ? 100 : 300);
	mixed = typical().variance_ns2;
	spread = (struct pft_spread){.batch = 0};
	for (int i = 0; i < 4096; i++)
		pft_spread_add(&spread, i < 2048 ? 100 : 300);
	cr_assert_gt(typical().variance_ns2, 100 * mixed + 1);
}

// Phases of four batches: sums of 400 and 1600 in turn. Eight such sums vary 31 / 7 times as much as 32 calls
// that do not hang together would.
Test(spread, sees_phases_that_are_longer_than_a_batch)
{
	struct pft_typical phases;

	for (int i = 0; i < 32; i++)
		pft_spread_add(&spread, i / 4 % 2 ? 100 : 400);
	phases = typical();
	is_near(phases.freedom, 7, 1e-9);
	spread = (struct pft_spread){.batch = 0};
	for (int i = 0; i < 32; i++)
		pft_spread_add(&spread, i % 2 ? 100 : 400);
	is_near(typical().freedom, 15, 1e-9);
	is_near(phases.variance_ns2, typical().variance_ns2 * 31 / 7, 1e-9);
}

Test(spread, a_phase_that_is_shorter_than_the_slower_half_does_not_count)
{
	for (int i = 0; i < 200; i++)
		pft_spread_add(&spread, i < 150 ? 100 : 400);
	is_near(typical().ns, 20000, 1e-9);
	is_near(typical().variance_ns2, 0, 1e-9);
}

Test(spread, counts_the_calls_of_a_batch_that_is_not_whole)
{
	for (int i = 0; i < 2 * PFT_SPREAD_BATCHES + 1; i++)
		pft_spread_add(&spread, (uint64_t)i % 4);
	cr_assert_eq(spread.batch, 4);
	cr_assert_eq(spread.whole, PFT_SPREAD_BATCHES / 2);
	cr_assert_eq(spread.filled, 1);
	is_near(typical().ns, 6 * 16.25, 1e-9);
}

// ---- comparisons ------------------------------------------------------------------------------------

static struct pft_side before, after;
static struct pft_comparison comparison;
static struct pft_limits limits;
static struct pft_probe probe;
static int rare; // each so-many-th call takes a hundred times as long; 0: none does

static void open_sides(void)
{
	limits = (struct pft_limits){.threshold = 0.05, .min_ns = MS, .noise = 0.05};
	pft_side_open(&before, 8);
	pft_side_open(&after, 8);
}

static void close_sides(void)
{
	pft_side_free(&before);
	pft_side_free(&after);
}

TestSuite(diff, .init = open_sides, .fini = close_sides);

// A run of `calls` calls of a function, each between `least_ns` and `most_ns`; 0 calls add nothing.
static void add(struct pft_side *side, const char *name, int calls, double least_ns, double most_ns)
{
	struct pft_report report = {.summary = pft_summary_open(), .probe = probe};
	struct pft_summary_thread *thread = pft_summary_thread(report.summary, 1, 1);
	struct pft_summary_stack *stack = pft_summary_stack(report.summary, thread);
	uint32_t function = calls ? pft_summary_function(report.summary, name, "") : 0;
	uint64_t ns = 1;

	for (; calls > 0; calls--) {
		pft_summary_begin(report.summary, stack, ns, function);
		ns += (uint64_t)((least_ns + (most_ns - least_ns) * random_share()) *
				 (rare && calls % rare == 0 ? 100 : 1));
		pft_summary_end(report.summary, stack, ns, false);
	}
	pft_side_add(side, &report);
	pft_summary_close(report.summary);
}

static void add_run(struct pft_side *side, const char *name, int calls, double least_ns, double most_ns)
{
	pft_side_begin_run(side);
	add(side, name, calls, least_ns, most_ns);
}

static const struct pft_change *change_of(const char *name)
{
	for (uint32_t i = 0; i < comparison.count; i++)
		if (strcmp(comparison.changes[i].name, name) == 0)
			return &comparison.changes[i];
	cr_assert_fail("%s is not compared", name);
	return NULL;
}

static enum pft_change_kind kind_of(const char *name)
{
	cr_assert_eq(pft_compare(&comparison, &before, &after, &limits), 0);
	return change_of(name)->kind;
}

Test(diff, tells_a_function_that_is_slower_or_faster)
{
	add_run(&before, "f", 1000, 90e3, 110e3);
	add_run(&after, "f", 1000, 140e3, 160e3);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
	cr_assert(comparison.slower);
	is_near(change_of("f")->difference_ns, 50e6, 0.02);
	cr_assert_eq(pft_compare(&comparison, &after, &before, &limits), 0);
	cr_assert_eq(change_of("f")->kind, PFT_CHANGE_FASTER);
	cr_assert_not(comparison.slower);
}

Test(diff, tells_what_is_called_more_often)
{
	add_run(&before, "f", 1000, 100e3, 100e3);
	add_run(&after, "f", 2000, 100e3, 100e3);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
	is_near(change_of("f")->after.calls, 2000, 1e-9);
}

Test(diff, leaves_out_what_is_within_a_limit)
{
	limits.noise = 0;
	add_run(&before, "f", 1000, 100e3, 100e3);
	add_run(&after, "f", 1000, 104e3, 104e3);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_NONE);
	limits.threshold = 0.03;
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
	limits.min_ns = 5 * MS;
	cr_assert_eq(kind_of("f"), PFT_CHANGE_NONE);
}

Test(diff, is_not_sure_where_calls_differ_more_than_sides)
{
	add_run(&before, "f", 10, 1e6, 99e6);
	add_run(&after, "f", 10, 1e6, 150e6);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_UNSURE);
	cr_assert_not(comparison.slower);
}

Test(diff, is_not_sure_of_one_run_that_is_a_little_slower)
{
	add_run(&before, "f", 100000, 9e3, 11e3);
	add_run(&after, "f", 100000, 10e3, 12e3);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_UNSURE);
	limits.noise = 0.01;
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
}

Test(diff, is_not_sure_of_what_is_small_beside_the_cost_of_recording)
{
	probe = (struct pft_probe){.inside_ns = 100, .outside_ns = 0};
	add_run(&before, "f", 100000, 110, 120);
	add_run(&after, "f", 100000, 160, 170);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_UNSURE);
	is_near(change_of("f")->before.self_ns, 1.5e6, 0.1);
	close_sides();
	open_sides();
	add_run(&before, "f", 100000, 110, 120);
	add_run(&after, "f", 100000, 1000, 1100);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
}

Test(diff, is_not_sure_of_few_calls_unless_there_are_several_runs)
{
	add_run(&before, "f", 1, 100e6, 100e6);
	add_run(&after, "f", 1, 300e6, 300e6);
	cr_assert_eq(kind_of("f"), PFT_CHANGE_UNSURE);
	for (int i = 0; i < 2; i++) {
		add_run(&before, "f", 1, 99e6, 101e6);
		add_run(&after, "f", 1, 290e6, 310e6);
	}
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
	cr_assert_eq(comparison.run.kind, PFT_CHANGE_SLOWER);
	is_near(change_of("f")->after.self_ns, 300e6, 0.05);
}

Test(diff, is_not_sure_of_a_few_slow_calls_unless_there_are_several_runs)
{
	for (int runs = 1; runs <= 3; runs++) {
		rare = 0;
		add_run(&before, "f", 2000, 100e3, 100e3);
		rare = 400;
		add_run(&after, "f", 2000, 100e3, 100e3);
		cr_assert_eq(kind_of("f"), runs < 3 ? PFT_CHANGE_UNSURE : PFT_CHANGE_SLOWER);
		cr_assert_eq(change_of("f")->difference_ns > 0, runs == 3);
	}
}

Test(diff, believes_runs_that_differ_more_than_was_assumed)
{
	static const double times[] = {10e6, 12e6, 9e6}, others[] = {15e6, 19e6, 14e6};

	for (int i = 0; i < 3; i++) {
		add_run(&before, "f", 10, times[i], times[i]);
		add_run(&after, "f", 10, others[i], others[i]);
	}
	limits.noise = 0.01;
	cr_assert_eq(kind_of("f"), PFT_CHANGE_UNSURE);
	limits.noise = 0.1;
	cr_assert_eq(kind_of("f"), PFT_CHANGE_SLOWER);
}

Test(diff, runs_that_differ_much_prove_less)
{
	static const double times[] = {100e6, 160e6, 70e6, 140e6, 60e6, 150e6, 90e6, 130e6};

	for (int i = 0; i < 8; i++) {
		add_run(&before, "f", 10, times[i] / 10, times[i] / 10);
		add_run(&after, "f", 10, times[i] / 8, times[i] / 8);
	}
	cr_assert_eq(kind_of("f"), PFT_CHANGE_UNSURE);
}

// Two sides of which nothing is slower are called different more rarely than the level says.
Test(diff, rarely_takes_chance_for_a_change)
{
	int changes = 0;

	for (int repeat = 0; repeat < 400; repeat++) {
		close_sides();
		open_sides();
		limits = (struct pft_limits){.min_ns = 1};
		add_run(&before, "f", 200, 0, 200e3);
		add_run(&after, "f", 200, 0, 200e3);
		changes += kind_of("f") > PFT_CHANGE_UNSURE;
	}
	cr_assert_lt(changes, 400 * PFT_COMPARE_LEVEL);
}

Test(diff, tells_what_appeared_and_vanished)
{
	add_run(&before, "old", 100, 100e3, 100e3);
	add_run(&after, "new", 100, 101e3, 101e3);
	cr_assert_eq(kind_of("old"), PFT_CHANGE_VANISHED);
	cr_assert_eq(change_of("new")->kind, PFT_CHANGE_APPEARED);
	cr_assert_not(comparison.slower, "it only has another name");
}

Test(diff, takes_what_appeared_for_slower_when_nothing_vanished)
{
	add_run(&before, "f", 100, 100e3, 100e3);
	add_run(&after, "f", 100, 100e3, 100e3);
	add(&after, "new", 100, 100e3, 100e3);
	cr_assert_eq(kind_of("new"), PFT_CHANGE_APPEARED);
	cr_assert(comparison.slower);
	cr_assert_eq(pft_compare(&comparison, &after, &before, &limits), 0);
	cr_assert_not(comparison.slower);
}

Test(diff, adds_up_the_processes_of_a_run)
{
	add_run(&before, "f", 100, 100e3, 100e3);
	add(&before, "f", 50, 300e3, 300e3);
	add_run(&after, "f", 1, 1, 1);
	kind_of("f");
	is_near(change_of("f")->before.calls, 150, 1e-9);
	is_near(change_of("f")->before.self_ns, 25e6, 1e-3);
	is_near((double)change_of("f")->before.p50_ns, 100e3, 0.02);
	is_near((double)change_of("f")->before.p99_ns, 300e3, 0.02);
	cr_assert_eq(before.processes, 2);
}

Test(diff, puts_the_largest_change_first)
{
	add_run(&before, "a", 100, 100e3, 100e3);
	add(&before, "b", 100, 100e3, 100e3);
	add_run(&after, "a", 100, 200e3, 200e3);
	add(&after, "b", 100, 900e3, 900e3);
	cr_assert_eq(pft_compare(&comparison, &before, &after, &limits), 0);
	cr_assert_str_eq(comparison.changes[0].name, "b");
	cr_assert_str_eq(comparison.changes[1].name, "a");
}
