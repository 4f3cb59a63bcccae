// SPDX-License-Identifier: MIT
// Estimates, tests and order: see compare.h.
#include "encoder/diff/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/diff/student.h"

// ---- estimates --------------------------------------------------------------------------------------

// A mean of runs, and how far it may be off.
struct estimate {
	double mean, variance;
	double crumbs; // of what the variance consists of: the squares, each by its degrees of freedom
};

static double square(double value)
{
	return value * value;
}

static void add_variance(struct estimate *estimate, double variance, double crumbs)
{
	estimate->variance += variance;
	estimate->crumbs += crumbs;
}

typedef double value_function(const struct pft_side *side, const void *of, uint32_t run);

// The variance of a run: what is assumed, corrected by the squares of `runs` runs around their mean, unless
// they show that it does not hold.
static double variance_of_run(double assumed, double squares, uint32_t runs, double *freedom)
{
	double own = runs > 1 ? squares / (runs - 1) : 0;

	*freedom = runs - 1.0;
	if (runs >= PFT_COMPARE_RUNS_MIN && own > PFT_COMPARE_PRIOR_LIMIT * assumed)
		return own;
	*freedom += PFT_COMPARE_PRIOR_RUNS;
	return (PFT_COMPARE_PRIOR_RUNS * assumed + squares) / *freedom;
}

static struct estimate estimate_runs(
	const struct pft_side *side, value_function *value, const void *of, double noise)
{
	struct estimate estimate = {.mean = 0};
	double squares = 0, freedom, variance;

	for (uint32_t i = 0; i < side->runs; i++)
		estimate.mean += value(side, of, i) / side->runs;
	for (uint32_t i = 0; i < side->runs; i++)
		squares += square(value(side, of, i) - estimate.mean);
	variance = variance_of_run(square(noise * estimate.mean), squares, side->runs, &freedom) / side->runs;
	add_variance(&estimate, variance, square(variance) / freedom);
	return estimate;
}

static double run_ns(const struct pft_side *side, const void *of, uint32_t run)
{
	(void)of;
	return (double)side->run_ns[run];
}

static double self_ns(const struct pft_side *side, const void *of, uint32_t run)
{
	const struct pft_side_function *function = of;

	(void)side;
	return (double)function->runs[run].self_ns;
}

static double typical_ns(const struct pft_side *side, const void *of, uint32_t run)
{
	const struct pft_side_function *function = of;

	(void)side;
	return function->runs[run].typical_ns;
}

static bool are_few(const struct pft_side *side)
{
	return side->runs < PFT_COMPARE_RUNS_MIN;
}

// What calls differ by comes to what runs do.
static struct estimate estimate_typical(
	const struct pft_side *side, const struct pft_side_function *function, double noise)
{
	struct estimate estimate = estimate_runs(side, typical_ns, function, noise);
	double runs = side->runs, probe_ns = 0;

	for (uint32_t i = 0; i < side->runs; i++) {
		const struct pft_side_run *run = &function->runs[i];

		probe_ns += (double)run->probe_ns / runs;
		add_variance(&estimate, run->variance_ns2 / square(runs), run->crumbs / square(square(runs)));
	}
	if (are_few(side))
		add_variance(&estimate, square(probe_ns), square(square(probe_ns)) / PFT_COMPARE_PRIOR_RUNS);
	return estimate;
}

static double chance_of(const struct estimate *before, const struct estimate *after)
{
	double variance = before->variance + after->variance, crumbs = before->crumbs + after->crumbs;

	if (variance <= 0 || crumbs <= 0)
		return before->mean == after->mean ? 1 : 0;
	return pft_student_chance((after->mean - before->mean) / sqrt(variance), square(variance) / crumbs);
}

// ---- one function -----------------------------------------------------------------------------------

static struct pft_change_side means_of(const struct pft_side_function *function, const struct pft_side *side)
{
	struct pft_change_side means = {.calls = 0};

	if (function == NULL)
		return means;
	for (uint32_t i = 0; i < side->runs; i++) {
		const struct pft_side_run *run = &function->runs[i];

		means.calls += (double)run->calls / side->runs;
		means.total_ns += (double)run->total_ns / side->runs;
		means.self_ns += (double)run->self_ns / side->runs;
		means.typical_ns += run->typical_ns / side->runs;
	}
	means.p50_ns = pft_side_quantile_ns(function, 0.5);
	means.p99_ns = pft_side_quantile_ns(function, 0.99);
	return means;
}

static struct pft_change change_of(
	struct pft_side *before, struct pft_side *after, const char *name, const char *category)
{
	struct pft_change change = {.name = name,
		.category = category,
		.before = means_of(pft_side_find(before, name, category), before),
		.after = means_of(pft_side_find(after, name, category), after),
		.chance = 1};

	change.base_ns = change.before.typical_ns;
	change.difference_ns = change.after.typical_ns - change.base_ns;
	return change;
}

static bool exceeds(double difference_ns, double before_ns, const struct pft_limits *limits)
{
	return fabs(difference_ns) >= (double)limits->min_ns &&
	       fabs(difference_ns) >= limits->threshold * before_ns;
}

// Whether the calls of these runs tell how far they may come out otherwise.
static bool can_tell(const struct pft_side *side, const struct pft_side_function *function)
{
	uint64_t calls = 0, told = 0;

	for (uint32_t i = 0; i < side->runs; i++) {
		calls += function->runs[i].calls;
		told += function->runs[i].told_calls;
	}
	return !are_few(side) || (told >= PFT_COMPARE_CALLS_MIN && 2 * told >= calls);
}

// What a difference is that exceeds the limits.
static enum pft_change_kind direction_of(double difference_ns)
{
	return difference_ns > 0 ? PFT_CHANGE_SLOWER : PFT_CHANGE_FASTER;
}

struct judge {
	struct pft_side *before, *after;
	const struct pft_limits *limits;
	double level; // of each test
};

static void judge_typical(const struct judge *judge, struct pft_change *change,
	const struct pft_side_function *before, const struct pft_side_function *after)
{
	struct estimate old = estimate_typical(judge->before, before, judge->limits->noise);
	struct estimate new = estimate_typical(judge->after, after, judge->limits->noise);

	change->chance = chance_of(&old, &new);
	if (!exceeds(change->difference_ns, change->base_ns, judge->limits))
		return;
	change->kind = change->chance <= judge->level && can_tell(judge->before, before) &&
				       can_tell(judge->after, after)
			       ? direction_of(change->difference_ns)
			       : PFT_CHANGE_UNSURE;
}

// All of the own time, the interrupted calls and the rare ones among it.
static void judge_self(const struct judge *judge, struct pft_change *change,
	const struct pft_side_function *before, const struct pft_side_function *after)
{
	struct estimate old = estimate_runs(judge->before, self_ns, before, judge->limits->noise);
	struct estimate new = estimate_runs(judge->after, self_ns, after, judge->limits->noise);
	double chance = chance_of(&old, &new);

	if (!exceeds(new.mean - old.mean, old.mean, judge->limits))
		return;
	if (are_few(judge->before) || are_few(judge->after) || chance > judge->level) {
		change->kind = PFT_CHANGE_UNSURE;
		return;
	}
	change->base_ns = old.mean;
	change->difference_ns = new.mean - old.mean;
	change->chance = chance;
	change->kind = direction_of(change->difference_ns);
}

static void judge_function(const struct judge *judge, struct pft_change *change)
{
	const struct pft_side_function *before, *after;

	before = pft_side_find(judge->before, change->name, change->category);
	after = pft_side_find(judge->after, change->name, change->category);
	if (before != NULL && after != NULL) {
		judge_typical(judge, change, before, after);
		if (change->kind <= PFT_CHANGE_UNSURE)
			judge_self(judge, change, before, after);
		return;
	}
	change->base_ns = change->before.self_ns;
	change->difference_ns = change->after.self_ns - change->base_ns;
	if (exceeds(change->difference_ns, change->base_ns, judge->limits))
		change->kind = before == NULL ? PFT_CHANGE_APPEARED : PFT_CHANGE_VANISHED;
}

// ---- all of them ------------------------------------------------------------------------------------

// Those that can be told to have changed at all are tested; of several runs each is tested twice.
static uint32_t count_tests(const struct pft_comparison *comparison, const struct judge *judge)
{
	bool few = are_few(judge->before) || are_few(judge->after);
	uint32_t tests = 1; // the run as a whole

	for (uint32_t i = 0; i < comparison->count; i++) {
		const struct pft_change *change = &comparison->changes[i];

		if (change->before.calls != 0 && change->after.calls != 0 &&
			fmax(change->before.self_ns, change->after.self_ns) >= (double)judge->limits->min_ns)
			tests += few ? 1 : 2;
	}
	return tests;
}

static void judge_run(const struct judge *judge, struct pft_change *run)
{
	struct estimate old = estimate_runs(judge->before, run_ns, NULL, judge->limits->noise);
	struct estimate new = estimate_runs(judge->after, run_ns, NULL, judge->limits->noise);

	*run = (struct pft_change){.name = "", .category = "", .chance = chance_of(&old, &new)};
	run->before = (struct pft_change_side){.calls = 1, .total_ns = old.mean, .self_ns = old.mean};
	run->after = (struct pft_change_side){.calls = 1, .total_ns = new.mean, .self_ns = new.mean};
	run->difference_ns = new.mean - old.mean;
	if (!exceeds(run->difference_ns, old.mean, judge->limits))
		return;
	run->kind = PFT_CHANGE_UNSURE;
	if (!are_few(judge->before) && !are_few(judge->after) && run->chance <= judge->level)
		run->kind = direction_of(run->difference_ns);
}

static void judge_all(struct pft_comparison *comparison, struct judge *judge)
{
	double all_ns = 0;

	judge->level = PFT_COMPARE_LEVEL / count_tests(comparison, judge);
	for (uint32_t i = 0; i < comparison->count; i++) {
		struct pft_change *change = &comparison->changes[i];

		judge_function(judge, change);
		comparison->kinds[change->kind]++;
		all_ns += change->before.self_ns;
		if (change->kind == PFT_CHANGE_APPEARED || change->kind == PFT_CHANGE_VANISHED)
			comparison->new_ns += change->difference_ns;
	}
	judge_run(judge, &comparison->run);
	comparison->slower = comparison->kinds[PFT_CHANGE_SLOWER] != 0 ||
			     comparison->run.kind == PFT_CHANGE_SLOWER ||
			     (comparison->new_ns > 0 && exceeds(comparison->new_ns, all_ns, judge->limits));
}

// The largest difference first; then by name.
static int compare_changes(const void *one, const void *other)
{
	const struct pft_change *a = one, *b = other;
	double size = fabs(a->difference_ns), other_size = fabs(b->difference_ns);
	int names = strcmp(a->name, b->name);

	if (size != other_size)
		return size > other_size ? -1 : 1;
	return names != 0 ? names : strcmp(a->category, b->category);
}

int pft_compare(struct pft_comparison *comparison, struct pft_side *before, struct pft_side *after,
	const struct pft_limits *limits)
{
	struct judge judge = {.before = before, .after = after, .limits = limits};
	size_t room = (size_t)before->functions_used + after->functions_used + 1;

	*comparison = (struct pft_comparison){
		.changes = pft_arena_alloc(&before->memory, room * sizeof *comparison->changes)};
	if (comparison->changes == NULL)
		return -ENOMEM;
	for (uint32_t i = 1; i <= before->functions_used; i++)
		comparison->changes[comparison->count++] =
			change_of(before, after, before->functions[i].name, before->functions[i].category);
	for (uint32_t i = 1; i <= after->functions_used; i++)
		if (pft_side_find(before, after->functions[i].name, after->functions[i].category) == NULL)
			comparison->changes[comparison->count++] = change_of(
				before, after, after->functions[i].name, after->functions[i].category);
	judge_all(comparison, &judge);
	qsort(comparison->changes, comparison->count, sizeof *comparison->changes, compare_changes);
	return 0;
}
