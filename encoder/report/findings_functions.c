// SPDX-License-Identifier: MIT
// Rules for functions: waits, time in one function, storms of calls. See findings.h. Any single thread; pure.
// The rule: what cannot be seen in recorded calls is not guessed.
#include "encoder/report/findings.h"

#include <stddef.h>
#include <string.h>

#include "encoder/report/units.h"

static bool has_called(const struct pft_summary_thread *thread, uint32_t function)
{
	return function / 8 < thread->called_room &&
	       (thread->called[function / 8] >> (function % 8) & 1) != 0;
}

// Lives of the threads that called it, together.
static uint64_t callers_life_ns(const struct pft_summary *summary, uint32_t function)
{
	uint64_t ns = 0;

	for (const struct pft_summary_thread *thread = summary->threads; thread != NULL;
		thread = thread->next)
		if (has_called(thread, function))
			ns += pft_summary_life_ns(summary, thread);
	return ns;
}

static void find_worst_node(
	const struct pft_tree_node *node, uint32_t function, const struct pft_tree_node **worst)
{
	if (node->function == function && (*worst == NULL || node->total_ns > (*worst)->total_ns))
		*worst = node;
	for (const struct pft_tree_node *child = node->children; child != NULL; child = child->next)
		find_worst_node(child, function, worst);
}

// The function, behind the caller in which most of its time went.
static void name_place(
	struct pft_bottleneck *bottleneck, const struct pft_summary *summary, uint32_t function)
{
	struct pft_text text = pft_text_in(bottleneck->place, sizeof bottleneck->place);
	const struct pft_tree_node *worst = NULL;

	find_worst_node(summary->tree.root, function, &worst);
	if (worst != NULL && worst->parent != NULL && worst->parent->function != 0) {
		pft_text_add(&text, pft_strings_text(&summary->strings,
					    summary->functions[worst->parent->function].name));
		pft_text_add(&text, " > ");
	}
	pft_text_add(&text, pft_strings_text(&summary->strings, summary->functions[function].name));
}

// "12 waits, 3.4 ms, 17 % of the time of 4 threads; the longest 1.2 ms"
static void say_waits(struct pft_bottleneck *bottleneck, const struct pft_summary_function *function)
{
	struct pft_text text = pft_text_in(bottleneck->evidence, sizeof bottleneck->evidence);

	pft_text_add_things(&text, function->waits, "wait");
	pft_text_add(&text, " of ");
	pft_text_add_things(&text, function->calls, "call");
	pft_text_add(&text, " took ");
	pft_text_add_duration(&text, function->wait_ns);
	pft_text_add(&text, ", ");
	pft_text_add_share(&text, bottleneck->share);
	pft_text_add(&text, function->threads == 1 ? " of the thread's time" : " of the time of ");
	if (function->threads != 1) {
		pft_text_add_number(&text, function->threads);
		pft_text_add(&text, " threads");
	}
	pft_text_add(&text, "; the longest took ");
	pft_text_add_duration(&text, function->max_ns);
}

// Waits of that kind, `share` of the threads' time and `least_ns` or more.
static void look_at_waits(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary,
	uint32_t number, enum pft_bottleneck_type type, double share, uint64_t least_ns)
{
	const struct pft_summary_function *function = &summary->functions[number];
	struct pft_bottleneck bottleneck = pft_bottleneck_about(
		type, function->max_at_ns, function->wait_ns, callers_life_ns(summary, number));
	struct pft_bottleneck *kept;

	if (bottleneck.share < share || function->wait_ns < least_ns ||
		!(kept = pft_bottleneck_keep(bottlenecks, &bottleneck)))
		return;
	name_place(kept, summary, number);
	say_waits(kept, function);
}

static bool is_polled(const struct pft_summary *summary, uint32_t number)
{
	const struct pft_summary_function *function = &summary->functions[number];

	return function->waits >= 50 && pft_histogram_quantile(&function->durations, 0.5) < 20 * PFT_MS &&
	       (double)function->waits >= 10 * ((double)callers_life_ns(summary, number) / 1e9);
}

// Waits for other threads are theirs to answer for; waits for descriptors and time are not.
static bool can_be_polled(const char *name)
{
	return strstr(name, "poll") != NULL || strstr(name, "select") != NULL ||
	       strstr(name, "timed") != NULL;
}

static void look_at_sleep(
	struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary, uint32_t number)
{
	if (is_polled(summary, number))
		look_at_waits(bottlenecks, summary, number, PFT_BOTTLENECK_POLL, 0, 0);
	else
		look_at_waits(bottlenecks, summary, number, PFT_BOTTLENECK_SLEEP, 0.10, PFT_MS);
}

static void look_at_cpu(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary,
	uint32_t number, struct pft_probe probe)
{
	const struct pft_summary_function *function = &summary->functions[number];
	uint64_t probe_ns = pft_probe_self_ns(function, probe);
	uint64_t own_ns = function->self_ns > probe_ns ? function->self_ns - probe_ns : 0;
	struct pft_bottleneck bottleneck = pft_bottleneck_about(
		PFT_BOTTLENECK_CPU, function->max_at_ns, own_ns, pft_summary_run_ns(summary));
	struct pft_bottleneck *kept;
	struct pft_text text;

	if (bottleneck.share < 0.25 || own_ns < 20 * PFT_MS ||
		!(kept = pft_bottleneck_keep(bottlenecks, &bottleneck)))
		return;
	name_place(kept, summary, number);
	text = pft_text_in(kept->evidence, sizeof kept->evidence);
	pft_text_add_duration(&text, own_ns);
	pft_text_add(&text, " in the function itself, ");
	if (function->threads > 1) {
		pft_text_add_things(&text, function->threads, "thread");
		pft_text_add(&text, " together, ");
	}
	pft_text_add_share(&text, kept->share);
	pft_text_add(&text, " of the run, in ");
	pft_text_add_things(&text, function->calls, "call");
}

static void look_at_storm(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary,
	uint32_t number, struct pft_probe probe)
{
	const struct pft_summary_function *function = &summary->functions[number];
	uint64_t median_ns = pft_histogram_quantile(&function->durations, 0.5);
	uint64_t cost_ns = function->calls * ((uint64_t)probe.inside_ns + probe.outside_ns);
	struct pft_bottleneck bottleneck = pft_bottleneck_about(
		PFT_BOTTLENECK_STORM, summary->begin_ns, cost_ns, pft_summary_run_ns(summary));
	struct pft_bottleneck *kept;
	struct pft_text text;

	// The median: one call that the kernel interrupts is longer than a hundred thousand others together.
	if (function->calls < 10000 || 2 * (uint64_t)probe.inside_ns < median_ns || bottleneck.share < 0.05 ||
		!(kept = pft_bottleneck_keep(bottlenecks, &bottleneck)))
		return;
	name_place(kept, summary, number);
	text = pft_text_in(kept->evidence, sizeof kept->evidence);
	pft_text_add_count(&text, function->calls);
	pft_text_add(&text, " calls of ");
	pft_text_add_duration(&text, median_ns);
	pft_text_add(&text, "; recording them took about ");
	pft_text_add_duration(&text, cost_ns);
	pft_text_add(&text, ", ");
	pft_text_add_share(&text, kept->share);
	pft_text_add(&text, " of the run");
}

void pft_findings_in_function(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary,
	uint32_t number, struct pft_probe probe)
{
	const struct pft_summary_function *function = &summary->functions[number];

	if (function->kind == PFT_KIND_LOCK && function->waits >= 10)
		look_at_waits(bottlenecks, summary, number, PFT_BOTTLENECK_LOCK, 0.05, PFT_MS);
	if (function->kind == PFT_KIND_IO)
		look_at_waits(bottlenecks, summary, number, PFT_BOTTLENECK_IO, 0.10, PFT_MS);
	if (function->kind == PFT_KIND_SLEEP)
		look_at_sleep(bottlenecks, summary, number);
	if (function->kind == PFT_KIND_WAIT && is_polled(summary, number) &&
		can_be_polled(pft_strings_text(&summary->strings, function->name)))
		look_at_waits(bottlenecks, summary, number, PFT_BOTTLENECK_POLL, 0, 0);
	if (function->kind == PFT_KIND_OTHER)
		look_at_cpu(bottlenecks, summary, number, probe);
	look_at_storm(bottlenecks, summary, number, probe);
}
