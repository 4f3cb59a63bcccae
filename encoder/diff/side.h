// SPDX-License-Identifier: MIT
// One side of a comparison: one run or several of the same, each of one process or several, added up by
// function. Called by diff.c and compare.c. Any single thread.
#ifndef PFT_DIFF_SIDE_H
#define PFT_DIFF_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/report/report.h"
#include "encoder/strings.h"
#include "encoder/table.h"

// Of one function, in one run.
struct pft_side_run {
	uint64_t calls; // that ended
	uint64_t told_calls; // of processes in which there were enough to know how they differ
	uint64_t total_ns, self_ns; // without what recording costs
	uint64_t probe_ns; // what it cost in self_ns
	double typical_ns; // what self_ns comes to without calls that were interrupted for long
	double variance_ns2; // of typical_ns, as far as calls tell
	double crumbs; // of the variances' squares, each by its degrees of freedom
};

struct pft_side_function {
	const char *name, *category;
	struct pft_side_run *runs;
	uint64_t min_ns, max_ns; // of a call, in any run
	struct pft_histogram durations; // of all runs
};

struct pft_side {
	struct pft_arena memory;
	struct pft_strings strings;
	struct pft_table numbers; // of functions
	struct pft_side_function *functions; // 1 to functions_used
	uint32_t functions_room, functions_used;
	uint32_t runs, runs_room;
	uint32_t processes; // of all runs
	uint64_t *run_ns; // from a run's first event to its last
	uint64_t recorder_ns; // of all runs, in which threads waited for the recorder
	uint64_t begin_ns, last_ns; // of the present run
	bool failed; // no memory, or a process whose calls could not all be counted
};

// For up to `runs` runs. It must stay where it is.
void pft_side_open(struct pft_side *side, uint32_t runs);

// What is added from here on is of the next run.
void pft_side_begin_run(struct pft_side *side);

// Adds a process, or several that were merged.
void pft_side_add(struct pft_side *side, const struct pft_report *report);

// NULL when it was never called.
const struct pft_side_function *pft_side_find(struct pft_side *side, const char *name, const char *category);

// What `share` (0 to 1) of the calls took at most.
uint64_t pft_side_quantile_ns(const struct pft_side_function *function, double share);

void pft_side_free(struct pft_side *side);

#endif
