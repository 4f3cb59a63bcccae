// SPDX-License-Identifier: MIT
// Reports: what a summary says, written for people and for programs. Called by the flusher when a process
// ends and by `pft report`. Any single thread. Every writer writes to `out`, which stays the caller's, and
// leaves errors to pft_out_flush.
//
//   text     functions by their own time, threads, slowest calls, bottlenecks, what to do
//   json     all of it, raw and corrected, with callers and the calling-context tree
//   chrome   the slowest functions laid end to end as slices, bottlenecks as instants
//   folded   chains of callers with their own time, as flame graph tools read them
//   html     a page that shows all of it, of one or several processes
#ifndef PFT_REPORT_H
#define PFT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/text.h"
#include "encoder/report/bottlenecks.h"
#include "encoder/out.h"
#include "encoder/report/summary.h"
#include "encoder/trace.h"

// What the kernel says of the process; zeroed where it is not known.
struct pft_usage {
	uint64_t peak_rss_bytes, minor_faults, major_faults;
};

// Which functions come first: those with the most time of their own, without the cost of recording; the most
// time with what they call; the most calls; the longest single call.
enum pft_report_order { PFT_REPORT_BY_SELF, PFT_REPORT_BY_TOTAL, PFT_REPORT_BY_CALLS, PFT_REPORT_BY_LONGEST };

struct pft_report {
	const char *process; // its name
	const char *command_line; // or NULL
	uint32_t pid;
	struct pft_totals totals; // of events
	struct pft_usage usage;
	struct pft_probe probe;
	struct pft_summary *summary;
	const struct pft_bottlenecks *bottlenecks;
	const uint32_t *order; // numbers of functions that were called, as they were to be sorted
	uint32_t functions;
	struct pft_tree_node **nodes; // of each function, chained
};

// What is left of a time when the cost of recording is taken off.
uint64_t pft_report_self_ns(const struct pft_report *report, const struct pft_summary_function *function);
uint64_t pft_report_total_ns(const struct pft_report *report, const struct pft_summary_function *function);

// Of one call, as seen.
uint64_t pft_report_mean_ns(const struct pft_summary_function *function);

// What `share` (0 to 1) of its calls took at most, to about 2 %.
uint64_t pft_report_quantile_ns(const struct pft_summary_function *function, double share);

// Whether most of the function's own time is recording.
bool pft_report_is_mostly_probe(const struct pft_report *report, const struct pft_summary_function *function);

// Fills in bottlenecks, which the caller gives room for, and the order of functions. -ENOMEM when there is no
// memory for that.
int pft_report_prepare(
	struct pft_report *report, enum pft_report_order by, struct pft_bottlenecks *bottlenecks);

// `rows` of each table at most; `colour`: for a terminal that knows colours.
void pft_report_text(struct pft_out *out, const struct pft_report *report, uint32_t rows, bool colour);
void pft_report_json(struct pft_out *out, const struct pft_report *report);

// As JSON, with at most as many of each: the first functions and threads, the chains that took longest.
struct pft_report_bounds {
	uint32_t functions, threads, chains;
};
void pft_report_json_within(
	struct pft_out *out, const struct pft_report *report, const struct pft_report_bounds *bounds);

void pft_report_chrome(struct pft_out *out, const struct pft_report *report);
void pft_report_folded(struct pft_out *out, const struct pft_report *report);

// Between open and close, a report for each of `processes` processes, PFT_PAGE_PROCESSES at most: the more
// there are, the less of each is on the page.
#define PFT_PAGE_PROCESSES 200
void pft_report_html_open(struct pft_out *out);
void pft_report_html(struct pft_out *out, const struct pft_report *report, uint32_t processes);
void pft_report_html_close(struct pft_out *out);

// ---- for the writers --------------------------------------------------------------------------------

// A line of up to PFT_REPORT_LINE bytes. It must be ended before the next one.
#define PFT_REPORT_LINE (32u << 10)
struct pft_text pft_report_line(struct pft_out *out);
void pft_report_end_line(struct pft_out *out, struct pft_text *line);

const char *pft_report_name(const struct pft_report *report, uint32_t function);

#endif
