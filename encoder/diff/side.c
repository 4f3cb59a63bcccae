// SPDX-License-Identifier: MIT
// Summaries of processes become runs of one side: see side.h.
#include "encoder/diff/side.h"

#include <stddef.h>

#include "encoder/array.h"

void pft_side_open(struct pft_side *side, uint32_t runs)
{
	*side = (struct pft_side){.runs_room = runs};
	side->strings.memory = &side->memory;
	side->run_ns = pft_arena_alloc(&side->memory, runs * sizeof *side->run_ns);
	side->failed = side->run_ns == NULL;
}

void pft_side_begin_run(struct pft_side *side)
{
	side->runs++;
	side->begin_ns = UINT64_MAX;
	side->last_ns = 0;
}

// ---- functions --------------------------------------------------------------------------------------

static uint64_t key_of(struct pft_side *side, const char *name, const char *category)
{
	uint32_t name_number = pft_strings_number(&side->strings, name);
	uint32_t category_number = pft_strings_number(&side->strings, category);

	return name_number && category_number ? (uint64_t)name_number << 32 | category_number : 0;
}

static struct pft_side_function *make_function(struct pft_side *side, uint64_t key)
{
	struct pft_side_function *functions = side->functions, *function;
	uint32_t number = side->functions_used + 1;

	if (number >= side->functions_room)
		functions = pft_array_grow(
			&side->memory, functions, &side->functions_room, number, sizeof *functions);
	if (functions == NULL || !pft_table_put(&side->numbers, &side->memory, key, number))
		return NULL;
	side->functions = functions;
	function = &functions[number];
	*function =
		(struct pft_side_function){.name = pft_strings_text(&side->strings, (uint32_t)(key >> 32)),
			.category = pft_strings_text(&side->strings, (uint32_t)key),
			.runs = pft_arena_alloc(&side->memory, side->runs_room * sizeof *function->runs)};
	if (function->runs == NULL)
		return NULL;
	side->functions_used = number;
	return function;
}

static struct pft_side_function *function_at(struct pft_side *side, const char *name, const char *category)
{
	uint64_t key = key_of(side, name, category);
	uint32_t number = key ? pft_table_get(&side->numbers, key) : 0;
	struct pft_side_function *function = number ? &side->functions[number] : NULL;

	if (key && !number)
		function = make_function(side, key);
	side->failed |= function == NULL;
	return function;
}

static void add_function(
	struct pft_side *side, const struct pft_report *report, const struct pft_summary_function *added)
{
	const struct pft_strings *strings = &report->summary->strings;
	struct pft_side_function *function = function_at(
		side, pft_strings_text(strings, added->name), pft_strings_text(strings, added->category));
	struct pft_typical typical = pft_spread_typical(&added->spread);
	uint64_t self_ns = pft_report_self_ns(report, added), probe_ns = added->self_ns - self_ns;
	struct pft_side_run *run;

	if (function == NULL)
		return;
	run = &function->runs[side->runs - 1];
	if (function->durations.count == 0 || added->min_ns < function->min_ns)
		function->min_ns = added->min_ns;
	if (added->max_ns > function->max_ns)
		function->max_ns = added->max_ns;
	pft_histogram_merge(&function->durations, &side->memory, &added->durations);
	run->calls += added->calls;
	run->total_ns += pft_report_total_ns(report, added);
	run->self_ns += self_ns;
	run->probe_ns += probe_ns;
	run->typical_ns += typical.ns > (double)probe_ns ? typical.ns - (double)probe_ns : 0;
	run->variance_ns2 += typical.variance_ns2;
	if (typical.freedom > 0) {
		run->told_calls += added->calls;
		run->crumbs += typical.variance_ns2 * typical.variance_ns2 / typical.freedom;
	}
}

void pft_side_add(struct pft_side *side, const struct pft_report *report)
{
	const struct pft_summary *summary = report->summary;

	for (uint32_t i = 1; i <= summary->functions_used; i++) {
		const struct pft_summary_function *function = &summary->functions[i];

		if (function->kind == PFT_KIND_RECORDER)
			side->recorder_ns += function->sum_ns;
		else if (function->calls != 0)
			add_function(side, report, function);
	}
	if (summary->begin_ns < side->begin_ns)
		side->begin_ns = summary->begin_ns;
	if (summary->last_ns > side->last_ns)
		side->last_ns = summary->last_ns;
	side->run_ns[side->runs - 1] = side->last_ns - side->begin_ns;
	side->processes++;
	side->failed |= summary->incomplete;
}

// ---- answers ----------------------------------------------------------------------------------------

const struct pft_side_function *pft_side_find(struct pft_side *side, const char *name, const char *category)
{
	uint64_t key = key_of(side, name, category);
	uint32_t number = key ? pft_table_get(&side->numbers, key) : 0;

	return number ? &side->functions[number] : NULL;
}

uint64_t pft_side_quantile_ns(const struct pft_side_function *function, double share)
{
	uint64_t ns = pft_histogram_quantile(&function->durations, share);

	if (ns < function->min_ns)
		return function->min_ns;
	return ns < function->max_ns ? ns : function->max_ns;
}

void pft_side_free(struct pft_side *side)
{
	pft_arena_free(&side->memory);
}
