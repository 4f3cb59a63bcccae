// SPDX-License-Identifier: MIT
// The report as a picture: the slowest functions laid end to end as complete events, as long as their own
// time, and bottlenecks as instants where they were worst. See report.h.
#include "encoder/report/report.h"

#include <stddef.h>

#include "encoder/json_text.h"
#include "encoder/report/units.h"

#define FUNCTIONS_MAX 50

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// A line of an event up to its args: {"ph":"X","pid":1,"tid":1,"name":"read","cat":"function","ts":0.000
static struct pft_text begin_event(struct pft_out *out, const struct pft_report *report, const char *phase,
	const char *name, uint64_t ns)
{
	const struct pft_arg args[] = {
		{.name = "ph", .kind = PFT_ARG_TEXT, .text = phase},
		{.name = "pid", .kind = PFT_ARG_UNSIGNED, .number = report->pid},
		{.name = "tid", .kind = PFT_ARG_UNSIGNED, .number = report->pid},
		{.name = "name", .kind = PFT_ARG_TEXT, .text = name},
	};
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, ",{");
	pft_json_add_args(&line, args, COUNT(args));
	pft_text_add(&line, ",\"ts\":");
	pft_json_add_micros(&line, ns);
	return line;
}

static void end_event(struct pft_out *out, struct pft_text *line, const struct pft_arg *args, size_t count)
{
	pft_text_add(line, ",\"args\":{");
	pft_json_add_args(line, args, count);
	pft_text_add(line, "}}");
	pft_report_end_line(out, line);
}

static void write_head(struct pft_out *out, const struct pft_report *report)
{
	const struct pft_arg arg = {.name = "name", .kind = PFT_ARG_TEXT, .text = report->process};
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
	pft_report_end_line(out, &line);
	line = pft_report_line(out);
	pft_text_add(&line, " {\"ph\":\"M\",\"name\":\"process_name\",\"pid\":");
	pft_text_add_number(&line, report->pid);
	pft_text_add(&line, ",\"tid\":");
	pft_text_add_number(&line, report->pid);
	end_event(out, &line, &arg, 1);
}

static uint64_t write_function(
	struct pft_out *out, const struct pft_report *report, uint32_t number, uint64_t at_ns)
{
	const struct pft_summary_function *function = &report->summary->functions[number];
	uint64_t self_ns = pft_report_self_ns(report, function);
	const struct pft_arg args[] = {
		{.name = "calls", .kind = PFT_ARG_UNSIGNED, .number = function->calls},
		{.name = "total_ns", .kind = PFT_ARG_UNSIGNED, .number = function->total_ns},
		{.name = "self_ns", .kind = PFT_ARG_UNSIGNED, .number = function->self_ns},
		{.name = "max_ns", .kind = PFT_ARG_UNSIGNED, .number = function->max_ns},
		{.name = "max_at_ns", .kind = PFT_ARG_UNSIGNED, .number = function->max_at_ns},
	};
	struct pft_text line = begin_event(out, report, "X", pft_report_name(report, number), at_ns);

	pft_text_add(&line, ",\"dur\":");
	pft_json_add_micros(&line, self_ns);
	end_event(out, &line, args, COUNT(args));
	return at_ns + self_ns;
}

static void write_bottleneck(
	struct pft_out *out, const struct pft_report *report, const struct pft_bottleneck *bottleneck)
{
	const struct pft_bottleneck_words *words = pft_bottleneck_words(bottleneck->type);
	const struct pft_arg args[] = {
		{.name = "type", .kind = PFT_ARG_TEXT, .text = words->name},
		{.name = "severity", .kind = PFT_ARG_TEXT, .text = pft_severity_name(bottleneck->severity)},
		{.name = "evidence", .kind = PFT_ARG_TEXT, .text = bottleneck->evidence},
		{.name = "description", .kind = PFT_ARG_TEXT, .text = words->description},
		{.name = "suggestion", .kind = PFT_ARG_TEXT, .text = words->suggestion},
	};
	char name[sizeof bottleneck->place + 16];
	struct pft_text text = pft_text_in(name, sizeof name);
	struct pft_text line;

	pft_text_add(&text, "bottleneck:");
	pft_text_add(&text, bottleneck->place);
	line = begin_event(out, report, "i", name, bottleneck->at_ns - report->summary->begin_ns);
	pft_text_add(&line, ",\"s\":\"p\"");
	end_event(out, &line, args, COUNT(args));
}

// What has no place in time.
static void write_end(struct pft_out *out, const struct pft_report *report)
{
	const struct pft_arg args[] = {
		{.name = "run_ns", .kind = PFT_ARG_UNSIGNED, .number = pft_summary_run_ns(report->summary)},
		{.name = "calls", .kind = PFT_ARG_UNSIGNED, .number = report->summary->calls},
		{.name = "dropped", .kind = PFT_ARG_UNSIGNED, .number = report->totals.dropped},
		{.name = "peak_rss_bytes", .kind = PFT_ARG_UNSIGNED, .number = report->usage.peak_rss_bytes},
		{.name = "minor_faults", .kind = PFT_ARG_UNSIGNED, .number = report->usage.minor_faults},
		{.name = "major_faults", .kind = PFT_ARG_UNSIGNED, .number = report->usage.major_faults},
	};
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, "],\"otherData\":{");
	pft_json_add_args(&line, args, COUNT(args));
	pft_text_add(&line, "}}");
	pft_report_end_line(out, &line);
}

void pft_report_chrome(struct pft_out *out, const struct pft_report *report)
{
	uint64_t at_ns = 0;

	write_head(out, report);
	for (uint32_t i = 0; i < report->functions && i < FUNCTIONS_MAX; i++)
		at_ns = write_function(out, report, report->order[i], at_ns);
	for (uint32_t i = 0; i < report->bottlenecks->count; i++)
		write_bottleneck(out, report, &report->bottlenecks->found[i]);
	write_end(out, report);
}
