// SPDX-License-Identifier: MIT
// pft-report [--format FORMAT] [--sort ORDER] [--rows N] [-o FILE] [--html FILE] [--force] TRACE...: says
// what finished traces add up to. Called by `pft report`. A program of its own on top of the reader and the
// reports. The rule: a trace that cannot be read whole gets one line on stderr, and the others are reported
// all the same.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/fail.h"
#include "encoder/options.h"
#include "encoder/output.h"
#include "encoder/report/feed.h"
#include "encoder/terminal/colour.h"

#define ROWS_DEFAULT 20

typedef void end_function(struct pft_out *out);

struct format {
	const char *name;
	void (*write)(struct pft_out *out, const struct pft_report *report);
	end_function *open, *close; // around all reports, or NULL
	int traces; // that it can hold
};

static struct pft_arena memory;

// What was asked for.
static const struct format *format;
static enum pft_report_order order = PFT_REPORT_BY_SELF;
static uint32_t rows = ROWS_DEFAULT;
static const char *output; // a path; NULL: standard output
static bool force;
static char **traces;
static int trace_count;

static int reported; // how many reports were begun

// ---- options ----------------------------------------------------------------------------------------

static void write_text(struct pft_out *out, const struct pft_report *report)
{
	if (reported > 1) {
		struct pft_text blank = pft_report_line(out);

		pft_report_end_line(out, &blank);
	}
	pft_report_text(out, report, rows, pft_colour_wanted(out->fd));
}

static void write_html(struct pft_out *out, const struct pft_report *report)
{
	pft_report_html(out, report, (uint32_t)trace_count);
}

static const struct format formats[] = {{"text", write_text, NULL, NULL, INT_MAX},
	{"json", pft_report_json, NULL, NULL, 1}, {"chrome", pft_report_chrome, NULL, NULL, 1},
	{"folded", pft_report_folded, NULL, NULL, INT_MAX},
	{"html", write_html, pft_report_html_open, pft_report_html_close, PFT_PAGE_PROCESSES}};

static const struct format *format_named(const char *name)
{
	for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	pft_fail(PFT_REFUSED, "--format=%s: is not text, json, chrome, folded or html", name);
}

static enum pft_report_order order_named(const char *name)
{
	static const char *const names[] = {[PFT_REPORT_BY_SELF] = "self",
		[PFT_REPORT_BY_TOTAL] = "total",
		[PFT_REPORT_BY_CALLS] = "calls",
		[PFT_REPORT_BY_LONGEST] = "longest"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(names[i], name) == 0)
			return (enum pft_report_order)i;
	pft_fail(PFT_REFUSED, "--sort=%s: is not self, total, calls or longest", name);
}

static void read_options(int count, char **arguments)
{
	static const struct option options[] = {{"format", required_argument, NULL, 'f'},
		{"html", required_argument, NULL, 'h'}, {"sort", required_argument, NULL, 's'},
		{"rows", required_argument, NULL, 'n'}, {"force", no_argument, NULL, 'F'},
		{NULL, 0, NULL, 0}};
	int option;

	opterr = 0;
	while ((option = getopt_long(count, arguments, "n:o:", options, NULL)) >= 0) {
		if (option == 'f')
			format = format_named(optarg);
		else if (option == 'h')
			format = format_named("html"), output = optarg;
		else if (option == 's')
			order = order_named(optarg);
		else if (option == 'n')
			rows = pft_rows_named(optarg);
		else if (option == 'o')
			output = optarg;
		else if (option == 'F')
			force = true;
		else
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft report -h",
				arguments[optind - 1]);
	}
	traces = arguments + optind;
	trace_count = count - optind;
	if (trace_count == 0)
		pft_fail(PFT_REFUSED, "no trace is given; see pft report -h");
	if (format->traces == 1 && trace_count > 1)
		pft_fail(PFT_REFUSED, "one trace at a time can be reported in this format");
	if (trace_count > format->traces)
		pft_fail(PFT_REFUSED, "%d traces are too many for a page; name up to %d of them", trace_count,
			format->traces);
}

// ---- reports ----------------------------------------------------------------------------------------

static void write_report(struct pft_out *out, struct pft_report *report)
{
	static struct pft_bottlenecks bottlenecks;

	if (pft_report_prepare(report, order, &bottlenecks) < 0)
		pft_fail(PFT_FAILED, "out of memory");
	if (reported++ == 0 && format->open != NULL)
		format->open(out);
	format->write(out, report);
}

// 0, or the exit status that it calls for.
static int report_trace(struct pft_out *out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pft_feed feed;

	if (fd < 0) {
		fprintf(stderr, "pft: %s: %s\n", path, strerror(errno));
		return PFT_REFUSED;
	}
	pft_progress_start_file("reading", path, fd);
	if (pft_feed_read(&feed, fd) < 0)
		pft_fail(PFT_FAILED, "%s: out of memory", path);
	pft_progress_end();
	close(fd);
	if (feed.wrong != NULL)
		fprintf(stderr, "pft: %s: %s\n", path, feed.wrong);
	else if (feed.report.summary == NULL)
		fprintf(stderr, "pft: %s: holds no event\n", path);
	if (feed.report.summary != NULL)
		write_report(out, &feed.report);
	pft_feed_release(&feed);
	return feed.wrong != NULL ? PFT_REFUSED : 0;
}

// Of all traces, the worst exit status.
static int report_traces(struct pft_out *out)
{
	int status = 0;

	for (int i = 0; i < trace_count; i++) {
		int result = report_trace(out, traces[i]);

		status = result > status ? result : status;
	}
	if (reported != 0 && format->close != NULL)
		format->close(out);
	return status;
}

int main(int count, char **arguments)
{
	struct pft_out out;
	int status, error;

	format = format_named("text");
	read_options(count, arguments);
	if (output != NULL)
		pft_output_check(output, force);
	if (pft_out_open(&out, output != NULL ? pft_output_open(output) : STDOUT_FILENO, &memory) < 0)
		pft_fail(PFT_FAILED, "out of memory");
	status = report_traces(&out);
	error = pft_out_flush(&out);
	if (error != 0)
		pft_fail(PFT_FAILED, "%s: cannot be written: %s", output != NULL ? output : "standard output",
			strerror(-error));
	if (output != NULL && out.bytes != 0)
		pft_output_put_in_place(output, force);
	return status;
}
