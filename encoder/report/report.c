// SPDX-License-Identifier: MIT
// What all reports stand on: see report.h. Any single thread.
#include "encoder/report/report.h"

#include <errno.h>
#include <stddef.h>

static uint64_t without(uint64_t ns, uint64_t probe_ns)
{
	return ns > probe_ns ? ns - probe_ns : 0;
}

uint64_t pft_report_self_ns(const struct pft_report *report, const struct pft_summary_function *function)
{
	return without(function->self_ns, pft_probe_self_ns(function, report->probe));
}

uint64_t pft_report_total_ns(const struct pft_report *report, const struct pft_summary_function *function)
{
	return without(function->total_ns, pft_probe_total_ns(function, report->probe));
}

// A function that calls itself has its time counted once, so the sum of all of its calls is more than that.
uint64_t pft_report_mean_ns(const struct pft_summary_function *function)
{
	return function->calls != 0 ? function->sum_ns / function->calls : 0;
}

uint64_t pft_report_quantile_ns(const struct pft_summary_function *function, double share)
{
	uint64_t ns = pft_histogram_quantile(&function->durations, share);

	if (ns < function->min_ns)
		return function->min_ns;
	return ns < function->max_ns ? ns : function->max_ns;
}

bool pft_report_is_mostly_probe(const struct pft_report *report, const struct pft_summary_function *function)
{
	return 2 * pft_probe_self_ns(function, report->probe) > function->self_ns;
}

// ---- order ------------------------------------------------------------------------------------------

static uint64_t rank(const struct pft_report *report, enum pft_report_order by, uint32_t number)
{
	const struct pft_summary_function *function = &report->summary->functions[number];

	switch (by) {
	case PFT_REPORT_BY_TOTAL:
		return pft_report_total_ns(report, function);
	case PFT_REPORT_BY_CALLS:
		return function->calls;
	case PFT_REPORT_BY_LONGEST:
		return function->max_ns;
	default:
		return pft_report_self_ns(report, function);
	}
}

// Whether the first belongs before the second: by rank, then as they came.
static bool is_before(const struct pft_report *report, enum pft_report_order by, uint32_t one, uint32_t other)
{
	uint64_t one_rank = rank(report, by, one), other_rank = rank(report, by, other);

	return one_rank != other_rank ? one_rank > other_rank : one < other;
}

// Keeps the heap's rule, that the one at the top belongs last, from `place` down.
static void sift(const struct pft_report *report, enum pft_report_order by, uint32_t *order, uint32_t place,
	uint32_t count)
{
	for (uint32_t child; (child = 2 * place + 1) < count; place = child) {
		uint32_t moved = order[place];

		if (child + 1 < count && is_before(report, by, order[child], order[child + 1]))
			child++;
		if (!is_before(report, by, moved, order[child]))
			return;
		order[place] = order[child];
		order[child] = moved;
	}
}

static void sort(const struct pft_report *report, enum pft_report_order by, uint32_t *order, uint32_t count)
{
	for (uint32_t place = count / 2; place-- > 0;)
		sift(report, by, order, place, count);
	for (uint32_t last = count; last-- > 1;) {
		uint32_t moved = order[last];

		order[last] = order[0];
		order[0] = moved;
		sift(report, by, order, 0, last);
	}
}

int pft_report_prepare(
	struct pft_report *report, enum pft_report_order by, struct pft_bottlenecks *bottlenecks)
{
	struct pft_summary *summary = report->summary;
	size_t numbers = summary->functions_used + (size_t)1;
	uint32_t *order = pft_arena_alloc(&summary->memory, numbers * sizeof *order);

	report->nodes = pft_arena_alloc(&summary->memory, numbers * sizeof(void *));
	if (order == NULL || report->nodes == NULL)
		return -ENOMEM;
	pft_tree_link(&summary->tree, report->nodes);
	report->functions = 0;
	for (uint32_t i = 1; i <= summary->functions_used; i++)
		if (summary->functions[i].calls != 0 || summary->functions[i].open != 0)
			order[report->functions++] = i;
	sort(report, by, order, report->functions);
	report->order = order;
	pft_bottlenecks_find(bottlenecks, summary, report->probe);
	report->bottlenecks = bottlenecks;
	return 0;
}

// ---- lines ------------------------------------------------------------------------------------------

struct pft_text pft_report_line(struct pft_out *out)
{
	return pft_text_in((char *)pft_out_reserve(out, PFT_REPORT_LINE + 1), PFT_REPORT_LINE);
}

void pft_report_end_line(struct pft_out *out, struct pft_text *line)
{
	line->start[line->used++] = '\n';
	pft_out_commit(out, (uint8_t *)line->start + line->used);
}

const char *pft_report_name(const struct pft_report *report, uint32_t function)
{
	return pft_strings_text(&report->summary->strings, report->summary->functions[function].name);
}
