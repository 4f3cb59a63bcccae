// SPDX-License-Identifier: MIT
// The report for programs: one JSON object with everything that the summary holds, times in nanoseconds, raw
// and without the cost of recording. See report.h. The rule: a value a line at most, so that no line outgrows
// its room.
#include "encoder/report/report.h"

#include <stddef.h>

#include "encoder/json_text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct pft_arg unsigned_arg(const char *name, uint64_t number)
{
	return (struct pft_arg){.name = name, .kind = PFT_ARG_UNSIGNED, .number = number};
}

static struct pft_arg text_arg(const char *name, const char *text)
{
	return (struct pft_arg){.name = name, .kind = PFT_ARG_TEXT, .text = text};
}

static struct pft_arg bool_arg(const char *name, bool value)
{
	return (struct pft_arg){.name = name, .kind = PFT_ARG_BOOL, .number = value};
}

static void write_line(struct pft_out *out, const char *text)
{
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, text);
	pft_report_end_line(out, &line);
}

// `,` unless it is the first of a list, then {"name":value,...} without the brace at the end.
static struct pft_text begin_item(struct pft_out *out, bool first, const struct pft_arg *args, size_t count)
{
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, first ? " {" : ",{");
	pft_json_add_args(&line, args, count);
	return line;
}

static void end_item(struct pft_out *out, struct pft_text *line)
{
	pft_text_add(line, "}");
	pft_report_end_line(out, line);
}

static void write_item(struct pft_out *out, bool first, const struct pft_arg *args, size_t count)
{
	struct pft_text line = begin_item(out, first, args, count);

	end_item(out, &line);
}

// Chains below that took so long.
static uint32_t count_chains(const struct pft_tree_node *node, uint64_t least_ns)
{
	uint32_t count = 0;

	for (node = node->children; node != NULL; node = node->next)
		if (node->extent_ns >= least_ns)
			count += 1 + count_chains(node, least_ns);
	return count;
}

// ---- head -------------------------------------------------------------------------------------------

static void write_head(struct pft_out *out, const struct pft_report *report)
{
	const struct pft_summary *summary = report->summary;
	const struct pft_arg args[] = {
		text_arg("process", report->process),
		unsigned_arg("pid", report->pid),
		text_arg("command_line", report->command_line),
		unsigned_arg("begin_ns", summary->begin_ns),
		unsigned_arg("origin_ns", summary->origin_ns),
		unsigned_arg("run_ns", pft_summary_run_ns(summary)),
		unsigned_arg("calls", summary->calls),
		unsigned_arg("produced", report->totals.produced),
		unsigned_arg("written", report->totals.written),
		unsigned_arg("filtered", report->totals.filtered),
		unsigned_arg("dropped", report->totals.dropped),
		unsigned_arg("probe_inside_ns", report->probe.inside_ns),
		unsigned_arg("probe_outside_ns", report->probe.outside_ns),
		unsigned_arg("peak_rss_bytes", report->usage.peak_rss_bytes),
		unsigned_arg("minor_faults", report->usage.minor_faults),
		unsigned_arg("major_faults", report->usage.major_faults),
		bool_arg("incomplete", summary->incomplete),
		unsigned_arg("function_count", report->functions),
		unsigned_arg("thread_count", summary->threads_used),
		unsigned_arg("chain_count", count_chains(summary->tree.root, 1)),
	};
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, "{");
	pft_json_add_args(&line, args, COUNT(args));
	pft_report_end_line(out, &line);
}

// ---- functions --------------------------------------------------------------------------------------

struct caller {
	uint32_t function;
	uint64_t calls, total_ns;
};

// The callers of a function, each once. Those beyond the room are left out.
#define CALLERS_MAX 64

static uint32_t find_callers(const struct pft_tree_node *node, struct caller *callers)
{
	uint32_t count = 0;

	for (; node != NULL; node = node->same) {
		uint32_t place = 0;

		if (node->parent->function == 0)
			continue;
		while (place < count && callers[place].function != node->parent->function)
			place++;
		if (place == CALLERS_MAX)
			continue;
		if (place == count)
			callers[count++] = (struct caller){.function = node->parent->function};
		callers[place].calls += node->calls;
		callers[place].total_ns += node->total_ns;
	}
	return count;
}

static void add_callers(struct pft_text *line, const struct pft_report *report, uint32_t number)
{
	struct caller callers[CALLERS_MAX];
	uint32_t count = find_callers(report->nodes[number], callers);

	pft_text_add(line, ",\"callers\":[");
	for (uint32_t i = 0; i < count; i++) {
		const struct pft_arg args[] = {
			text_arg("name", pft_report_name(report, callers[i].function)),
			unsigned_arg("calls", callers[i].calls),
			unsigned_arg("total_ns", callers[i].total_ns),
		};
		if (line->size - line->used < PFT_JSON_STRING_MAX + 256)
			break;
		pft_text_add(line, i == 0 ? "{" : ",{");
		pft_json_add_args(line, args, COUNT(args));
		pft_text_add(line, "}");
	}
	pft_text_add(line, "]");
}

static void write_function(struct pft_out *out, const struct pft_report *report, uint32_t place)
{
	uint32_t number = report->order[place];
	const struct pft_summary_function *function = &report->summary->functions[number];
	const struct pft_arg args[] = {
		text_arg("name", pft_report_name(report, number)),
		text_arg("category", pft_strings_text(&report->summary->strings, function->category)),
		text_arg("kind", pft_kind_name(function->kind)),
		unsigned_arg("calls", function->calls),
		unsigned_arg("not_returned", function->open),
		unsigned_arg("unwound", function->unwound),
		unsigned_arg("total_ns", function->total_ns),
		unsigned_arg("self_ns", function->self_ns),
		unsigned_arg("total_corrected_ns", pft_report_total_ns(report, function)),
		unsigned_arg("self_corrected_ns", pft_report_self_ns(report, function)),
		bool_arg("mostly_probe", pft_report_is_mostly_probe(report, function)),
		unsigned_arg("min_ns", function->min_ns),
		unsigned_arg("mean_ns", pft_report_mean_ns(function)),
		unsigned_arg("p50_ns", pft_report_quantile_ns(function, 0.5)),
		unsigned_arg("p90_ns", pft_report_quantile_ns(function, 0.9)),
		unsigned_arg("p99_ns", pft_report_quantile_ns(function, 0.99)),
		unsigned_arg("max_ns", function->max_ns),
		unsigned_arg("max_at_ns", function->max_at_ns),
		unsigned_arg("threads", function->threads),
		unsigned_arg("waits", function->waits),
		unsigned_arg("wait_ns", function->wait_ns),
	};
	struct pft_text line = begin_item(out, place == 0, args, COUNT(args));

	add_callers(&line, report, number);
	end_item(out, &line);
}

// ---- the tree ---------------------------------------------------------------------------------------

struct chains {
	uint64_t least_ns; // shorter ones are left out, and so is what is below them
	uint32_t last; // the number of the last one
};

// Nodes are numbered as they are written; each names its parent's number. The root has none.
static void write_tree(struct pft_out *out, const struct pft_report *report, const struct pft_tree_node *node,
	uint32_t parent, struct chains *chains)
{
	for (node = node->children; node != NULL; node = node->next) {
		uint32_t number = chains->last + 1;
		const struct pft_arg args[] = {
			unsigned_arg("node", number),
			unsigned_arg("parent", parent),
			text_arg("name", pft_report_name(report, node->function)),
			unsigned_arg("calls", node->calls),
			unsigned_arg("total_ns", node->total_ns),
			unsigned_arg("self_ns", node->self_ns),
			unsigned_arg("extent_ns", node->extent_ns),
		};

		if (node->extent_ns < chains->least_ns)
			continue;
		chains->last = number;
		write_item(out, number == 1, args, COUNT(args));
		write_tree(out, report, node, number, chains);
	}
}

// The extent from which on chains are written, so that there are no more than `most` of them.
static uint64_t least_extent(const struct pft_tree_node *root, uint32_t most)
{
	uint64_t least_ns = 1;

	if (most == UINT32_MAX)
		return 0;
	while (count_chains(root, least_ns) > most)
		least_ns += least_ns / 4 + 1;
	return least_ns;
}

// ---- threads, calls, bottlenecks --------------------------------------------------------------------

static void add_strip(struct pft_text *line, const struct pft_strip *strip, uint64_t run_ns)
{
	uint64_t slots = strip->slot_ns != 0 ? run_ns / strip->slot_ns + 1 : 0;

	pft_text_add(line, ",\"slot_ns\":");
	pft_text_add_number(line, strip->slot_ns);
	pft_text_add(line, ",\"waiting_ns_by_slot\":[");
	for (uint64_t i = 0; i < slots && i < PFT_STRIP_SLOTS; i++) {
		pft_text_add(line, i == 0 ? "" : ",");
		pft_text_add_number(line, strip->waiting_ns[i]);
	}
	pft_text_add(line, "]");
}

static void write_threads(struct pft_out *out, const struct pft_report *report, uint32_t most)
{
	const struct pft_summary *summary = report->summary;

	for (const struct pft_summary_thread *thread = summary->threads; thread != NULL && most-- != 0;
		thread = thread->next) {
		const char *name = pft_strings_text(&summary->strings, thread->name);
		const struct pft_arg args[] = {
			unsigned_arg("tid", thread->tid),
			text_arg("name", name != NULL ? name : ""),
			unsigned_arg("begin_ns", thread->begin_ns),
			unsigned_arg("life_ns", pft_summary_life_ns(summary, thread)),
			bool_arg("ended", thread->ended),
			unsigned_arg("waiting_ns", thread->waiting_ns),
			unsigned_arg("calls", thread->calls),
		};
		struct pft_text line = begin_item(out, thread == summary->threads, args, COUNT(args));

		add_strip(&line, &thread->strip, summary->last_ns - summary->origin_ns);
		end_item(out, &line);
	}
}

static void write_slowest(struct pft_out *out, const struct pft_report *report, uint32_t place)
{
	const struct pft_summary_call *call = &report->summary->slowest[place];
	const struct pft_arg args[] = {
		text_arg("name", pft_report_name(report, call->function)),
		text_arg("caller", call->caller != 0 ? pft_report_name(report, call->caller) : ""),
		unsigned_arg("tid", call->thread->tid),
		unsigned_arg("begin_ns", call->begin_ns),
		unsigned_arg("duration_ns", call->duration_ns),
	};

	write_item(out, place == 0, args, COUNT(args));
}

static void write_bottleneck(struct pft_out *out, const struct pft_report *report, uint32_t place)
{
	const struct pft_bottleneck *bottleneck = &report->bottlenecks->found[place];
	const struct pft_bottleneck_words *words = pft_bottleneck_words(bottleneck->type);
	const struct pft_arg args[] = {
		text_arg("type", words->name),
		text_arg("title", words->title),
		text_arg("place", bottleneck->place),
		text_arg("severity", pft_severity_name(bottleneck->severity)),
		unsigned_arg("at_ns", bottleneck->at_ns),
		unsigned_arg("cost_ns", bottleneck->cost_ns),
		text_arg("evidence", bottleneck->evidence),
		text_arg("description", words->description),
		text_arg("threshold", words->threshold),
		text_arg("suggestion", words->suggestion),
	};

	write_item(out, place == 0, args, COUNT(args));
}

void pft_report_json_within(
	struct pft_out *out, const struct pft_report *report, const struct pft_report_bounds *bounds)
{
	const struct pft_tree_node *root = report->summary->tree.root;
	struct chains chains = {.least_ns = least_extent(root, bounds->chains)};

	write_head(out, report);
	write_line(out, ",\"functions\":[");
	for (uint32_t i = 0; i < report->functions && i < bounds->functions; i++)
		write_function(out, report, i);
	write_line(out, "],\"threads\":[");
	write_threads(out, report, bounds->threads);
	write_line(out, "],\"slowest_calls\":[");
	for (uint32_t i = 0; i < report->summary->slowest_used; i++)
		write_slowest(out, report, i);
	write_line(out, "],\"bottlenecks\":[");
	for (uint32_t i = 0; i < report->bottlenecks->count; i++)
		write_bottleneck(out, report, i);
	write_line(out, "],\"tree\":[");
	write_tree(out, report, root, 0, &chains);
	write_line(out, "]}");
}

void pft_report_json(struct pft_out *out, const struct pft_report *report)
{
	pft_report_json_within(out, report,
		&(struct pft_report_bounds){
			.functions = UINT32_MAX, .threads = UINT32_MAX, .chains = UINT32_MAX});
}
