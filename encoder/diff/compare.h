// SPDX-License-Identifier: MIT
// What became slower or faster from one side to the other, by more than chance explains. Called by diff.c.
// Any single thread; pure.
//
// Compared are two things: what a function's own time in a run typically is, without calls that were
// interrupted for long (report/spread.h); and, where there are several runs, all of its own time. How far
// they may come out otherwise is estimated from how calls differ within a run, in batches, and from how runs
// differ. Of the latter one run tells nothing, so an assumed deviation stands in, and counts as much as
// PFT_COMPARE_PRIOR_RUNS runs do; the runs that there are correct it, or replace it, where three or more have
// PFT_COMPARE_PRIOR_LIMIT times its variance. The difference is held against that by Welch's t-test, whose
// level is divided by the number of tests (Bonferroni). A change must also exceed both of the limits that the
// user has set. While runs are few, what recording costs is taken to be off by its whole amount: time that is
// small beside it proves nothing.
#ifndef PFT_DIFF_COMPARE_H
#define PFT_DIFF_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/diff/side.h"

#define PFT_COMPARE_PRIOR_RUNS 8
#define PFT_COMPARE_PRIOR_LIMIT 4

// How probable it is at most that anything is called a change between two sides that do not differ.
#define PFT_COMPARE_LEVEL 0.05

// With fewer runs on a side runs are few: all of a function's own time, and that of a whole run, are shown
// and not judged.
#define PFT_COMPARE_RUNS_MIN 3

// With fewer calls on a side, while runs are few, nothing tells how far their time may come out otherwise.
#define PFT_COMPARE_CALLS_MIN 8

struct pft_limits {
	double threshold; // a change is at least this share of the first side's time
	uint64_t min_ns; // and at least this
	double noise; // assumed standard deviation of a run, as a share of its time
};

enum pft_change_kind {
	PFT_CHANGE_NONE, // within the limits, or explained by chance
	PFT_CHANGE_UNSURE, // beyond the limits, but chance may explain it
	PFT_CHANGE_SLOWER,
	PFT_CHANGE_FASTER,
	PFT_CHANGE_APPEARED, // never called on the first side
	PFT_CHANGE_VANISHED,
};

// Means of a run, but for the quantiles, which are of the calls of all runs.
struct pft_change_side {
	double calls, total_ns, self_ns, typical_ns;
	uint64_t p50_ns, p99_ns;
};

struct pft_change {
	const char *name, *category; // of the function
	enum pft_change_kind kind;
	struct pft_change_side before, after;
	double difference_ns; // of typical own time; of all of it where that is what changed
	double base_ns; // what that was before
	double chance; // that two sides without a difference differ as much; 1: was not tested
};

struct pft_comparison {
	struct pft_change *changes; // of all functions, the largest difference first
	uint32_t count;
	uint32_t kinds[PFT_CHANGE_VANISHED + 1]; // how many of each
	struct pft_change run; // its times are those of whole runs
	double new_ns; // own time of what appeared, less that of what vanished
	bool slower; // something is slower, or what appeared is more than what vanished by both limits
};

// The sides and their memory must outlive the comparison, which lies in the first one's. -ENOMEM, or 0.
int pft_compare(struct pft_comparison *comparison, struct pft_side *before, struct pft_side *after,
	const struct pft_limits *limits);

#endif
