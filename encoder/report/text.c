// SPDX-License-Identifier: MIT
// The report for people: tables of a terminal's width but for names, which come last. See report.h.
#include "encoder/report/report.h"

#include <stddef.h>

#include "encoder/report/units.h"
#include "encoder/terminal/colour.h"

// ---- columns ----------------------------------------------------------------------------------------

#define COLUMN 11

static void add_word(struct pft_text *line, const char *word)
{
	size_t start = line->used;

	pft_text_add(line, word);
	pft_text_align_right(line, start, COLUMN);
}

typedef void add_function(struct pft_text *text, uint64_t value);

static void add_cell(struct pft_text *line, add_function *add, uint64_t value)
{
	size_t start = line->used;

	add(line, value);
	pft_text_align_right(line, start, COLUMN);
}

static void add_share(struct pft_text *line, uint64_t part, uint64_t whole)
{
	size_t start = line->used;

	pft_text_add_share(line, whole != 0 ? (double)part / (double)whole : 0);
	pft_text_align_right(line, start, COLUMN);
}

// A line of headings begins or ends.
static void mark(struct pft_text *line, bool colour, const char *sequence)
{
	if (colour)
		pft_text_add(line, sequence);
}

static void write_words(
	struct pft_out *out, bool colour, const char *const *words, size_t count, const char *last)
{
	struct pft_text line = pft_report_line(out);

	pft_report_end_line(out, &line);
	line = pft_report_line(out);
	mark(&line, colour, PFT_COLOUR_HEADING);
	for (size_t i = 0; i < count; i++)
		add_word(&line, words[i]);
	pft_text_add(&line, "  ");
	pft_text_add(&line, last);
	mark(&line, colour, PFT_COLOUR_END);
	pft_report_end_line(out, &line);
}

#define WRITE_WORDS(out, colour, last, ...)                                                                  \
	write_words(out, colour, (const char *const[]){__VA_ARGS__},                                         \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), last)

// ---- head -------------------------------------------------------------------------------------------

static void write_head(struct pft_out *out, const struct pft_report *report)
{
	const struct pft_summary *summary = report->summary;
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, report->process);
	pft_text_add(&line, " (");
	pft_text_add_number(&line, report->pid);
	pft_text_add(&line, "): ");
	pft_text_add_things(&line, summary->calls, "call");
	pft_text_add(&line, " in ");
	pft_text_add_things(&line, summary->threads_used, "thread");
	pft_text_add(&line, ", ");
	pft_text_add_duration(&line, pft_summary_run_ns(summary));
	pft_report_end_line(out, &line);

	line = pft_report_line(out);
	pft_text_add_count(&line, report->totals.produced);
	pft_text_add(&line, " events = ");
	pft_text_add_count(&line, report->totals.written);
	pft_text_add(&line, " written + ");
	pft_text_add_count(&line, report->totals.filtered);
	pft_text_add(&line, " filtered + ");
	pft_text_add_count(&line, report->totals.dropped);
	pft_text_add(&line, " dropped");
	pft_report_end_line(out, &line);
}

static void write_memory(struct pft_out *out, const struct pft_report *report)
{
	struct pft_text line = pft_report_line(out);

	if (report->usage.peak_rss_bytes == 0)
		return;
	pft_text_add_count(&line, report->usage.peak_rss_bytes >> 10);
	pft_text_add(&line, " KiB of memory at most, ");
	pft_text_add_things(&line, report->usage.minor_faults + report->usage.major_faults, "page fault");
	pft_text_add(&line, ", ");
	pft_text_add_count(&line, report->usage.major_faults);
	pft_text_add(&line, " of them from a disk");
	pft_report_end_line(out, &line);
}

// What a table does not show.
static void write_more(struct pft_out *out, uint32_t all, uint32_t rows, const char *one)
{
	struct pft_text line = pft_report_line(out);

	if (all <= rows)
		return;
	pft_text_add(&line, "and ");
	pft_text_add_things(&line, all - rows, one);
	pft_text_add(&line, " more (-n)");
	pft_report_end_line(out, &line);
}

// ---- tables -----------------------------------------------------------------------------------------

static void write_function(struct pft_out *out, const struct pft_report *report, uint32_t number)
{
	const struct pft_summary_function *function = &report->summary->functions[number];
	struct pft_text line = pft_report_line(out);

	add_cell(&line, pft_text_add_duration, pft_report_self_ns(report, function));
	add_cell(&line, pft_text_add_duration, function->self_ns);
	add_cell(&line, pft_text_add_duration, function->total_ns);
	add_cell(&line, pft_text_add_count, function->calls);
	add_cell(&line, pft_text_add_duration, pft_report_quantile_ns(function, 0.5));
	add_cell(&line, pft_text_add_duration, pft_report_quantile_ns(function, 0.99));
	add_cell(&line, pft_text_add_duration, function->max_ns);
	pft_text_add(&line, pft_report_is_mostly_probe(report, function) ? " *" : "  ");
	pft_text_add(&line, pft_report_name(report, number));
	pft_report_end_line(out, &line);
}

static void write_functions(struct pft_out *out, const struct pft_report *report, uint32_t rows, bool colour)
{
	bool probe = false;

	WRITE_WORDS(
		out, colour, "function", "own time", "as seen", "total", "calls", "median", "p99", "longest");
	for (uint32_t i = 0; i < report->functions && i < rows; i++) {
		probe |= pft_report_is_mostly_probe(report, &report->summary->functions[report->order[i]]);
		write_function(out, report, report->order[i]);
	}
	write_more(out, report->functions, rows, "function");
	if (probe) {
		struct pft_text line = pft_report_line(out);

		pft_text_add(
			&line, "own time: without inner calls, and without what recording costs, about ");
		pft_text_add_number(&line, report->probe.inside_ns + report->probe.outside_ns);
		pft_text_add(&line, " ns a call; *: most of what was seen is recording");
		pft_report_end_line(out, &line);
	}
}

static void write_threads(struct pft_out *out, const struct pft_report *report, uint32_t rows, bool colour)
{
	const struct pft_summary *summary = report->summary;
	uint32_t left = rows;

	WRITE_WORDS(out, colour, "thread", "lived", "waited", "busy", "calls");
	for (const struct pft_summary_thread *thread = summary->threads; thread != NULL && left-- != 0;
		thread = thread->next) {
		uint64_t life_ns = pft_summary_life_ns(summary, thread);
		struct pft_text line = pft_report_line(out);

		add_cell(&line, pft_text_add_duration, life_ns);
		add_cell(&line, pft_text_add_duration, thread->waiting_ns);
		add_share(&line, pft_summary_busy_ns(summary, thread), life_ns);
		add_cell(&line, pft_text_add_count, thread->calls);
		pft_text_add(&line, "  ");
		pft_text_add_number(&line, thread->tid);
		pft_text_add(&line, " ");
		pft_text_add(
			&line, thread->name != 0 ? pft_strings_text(&summary->strings, thread->name) : "");
		pft_report_end_line(out, &line);
	}
	write_more(out, summary->threads_used, rows, "thread");
}

static void write_slowest(struct pft_out *out, const struct pft_report *report, uint32_t rows, bool colour)
{
	const struct pft_summary *summary = report->summary;

	WRITE_WORDS(out, colour, "slowest calls", "took", "began at", "thread");
	for (uint32_t i = 0; i < summary->slowest_used && i < rows; i++) {
		const struct pft_summary_call *call = &summary->slowest[i];
		struct pft_text line = pft_report_line(out);

		add_cell(&line, pft_text_add_duration, call->duration_ns);
		add_cell(&line, pft_text_add_duration, call->begin_ns - summary->begin_ns);
		add_cell(&line, pft_text_add_number, call->thread->tid);
		pft_text_add(&line, "  ");
		pft_text_add(&line, pft_report_name(report, call->function));
		pft_report_end_line(out, &line);
	}
}

// ---- bottlenecks ------------------------------------------------------------------------------------

static const char *colour_of(enum pft_severity severity)
{
	return severity >= PFT_SEVERITY_HIGH ? PFT_COLOUR_ALARM : PFT_COLOUR_WARNING;
}

static void write_bottleneck(struct pft_out *out, const struct pft_bottleneck *bottleneck, bool colour)
{
	const struct pft_bottleneck_words *words = pft_bottleneck_words(bottleneck->type);
	struct pft_text line = pft_report_line(out);

	mark(&line, colour, colour_of(bottleneck->severity));
	pft_text_add(&line, pft_severity_name(bottleneck->severity));
	mark(&line, colour, PFT_COLOUR_END);
	pft_text_add(&line, ": ");
	pft_text_add(&line, words->title);
	pft_text_add(&line, ": ");
	pft_text_add(&line, bottleneck->place);
	pft_report_end_line(out, &line);
	line = pft_report_line(out);
	pft_text_add(&line, "    ");
	pft_text_add(&line, bottleneck->evidence);
	pft_report_end_line(out, &line);
	line = pft_report_line(out);
	pft_text_add(&line, "    ");
	pft_text_add(&line, words->suggestion);
	pft_report_end_line(out, &line);
}

static void write_bottlenecks(
	struct pft_out *out, const struct pft_report *report, uint32_t rows, bool colour)
{
	const struct pft_bottlenecks *bottlenecks = report->bottlenecks;
	struct pft_text line = pft_report_line(out);

	pft_report_end_line(out, &line);
	line = pft_report_line(out);
	mark(&line, colour, PFT_COLOUR_HEADING);
	pft_text_add(&line, bottlenecks->count != 0 ? "bottlenecks" : "no bottlenecks were found");
	mark(&line, colour, PFT_COLOUR_END);
	pft_report_end_line(out, &line);
	for (uint32_t i = 0; i < bottlenecks->count && i < rows; i++)
		write_bottleneck(out, &bottlenecks->found[i], colour);
}

static void write_nothing(struct pft_out *out)
{
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, "no call was recorded: PFT_FUNCS selects functions, PFT_MODE=dev records calls "
			    "between objects");
	pft_report_end_line(out, &line);
}

void pft_report_text(struct pft_out *out, const struct pft_report *report, uint32_t rows, bool colour)
{
	write_head(out, report);
	write_memory(out, report);
	if (report->functions == 0) {
		write_nothing(out);
		return;
	}
	write_functions(out, report, rows, colour);
	write_threads(out, report, rows, colour);
	write_slowest(out, report, rows, colour);
	write_bottlenecks(out, report, rows, colour);
}
