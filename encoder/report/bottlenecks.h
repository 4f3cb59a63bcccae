// SPDX-License-Identifier: MIT
// What holds a run up, found in its summary. Called by the writers of reports. Any single thread; pure. The
// rule: each kind has one threshold, in the table of bottlenecks.c, and says in numbers what it was found by.
#ifndef PFT_BOTTLENECKS_H
#define PFT_BOTTLENECKS_H

#include <stdint.h>

#include "encoder/report/summary.h"

enum pft_bottleneck_type {
	PFT_BOTTLENECK_LOCK,
	PFT_BOTTLENECK_IO,
	PFT_BOTTLENECK_SLEEP,
	PFT_BOTTLENECK_POLL,
	PFT_BOTTLENECK_CPU,
	PFT_BOTTLENECK_STORM,
	PFT_BOTTLENECK_SERIAL,
	PFT_BOTTLENECK_IMBALANCE,
	PFT_BOTTLENECK_RECORDING,
	PFT_BOTTLENECK_TYPES
};

enum pft_severity { PFT_SEVERITY_LOW, PFT_SEVERITY_MEDIUM, PFT_SEVERITY_HIGH, PFT_SEVERITY_CRITICAL };

// What recording a call costs, in nanoseconds: between its two clock readings, and around them.
struct pft_probe {
	uint32_t inside_ns, outside_ns;
};

struct pft_bottleneck {
	enum pft_bottleneck_type type;
	enum pft_severity severity;
	uint64_t at_ns; // when it was worst, or began
	uint64_t cost_ns; // time that it took, of all threads together
	double share; // of the time that it is measured by; what severity follows
	char place[256];
	char evidence[256];
};

#define PFT_BOTTLENECKS_MAX 32

struct pft_bottlenecks {
	uint32_t count;
	struct pft_bottleneck found[PFT_BOTTLENECKS_MAX]; // the worst first
};

// What the words of a type are: its name in traces and JSON, a title, what it means, when it is said, and
// what can be done.
struct pft_bottleneck_words {
	const char *name, *title, *description, *threshold, *suggestion;
};

const struct pft_bottleneck_words *pft_bottleneck_words(enum pft_bottleneck_type type);
const char *pft_severity_name(enum pft_severity severity);

// Looks for all of them. Strips are made equally coarse on the way.
void pft_bottlenecks_find(
	struct pft_bottlenecks *bottlenecks, struct pft_summary *summary, struct pft_probe probe);

// Nanoseconds that recording added to the time of a function itself, and to all of its outermost calls.
uint64_t pft_probe_self_ns(const struct pft_summary_function *function, struct pft_probe probe);
uint64_t pft_probe_total_ns(const struct pft_summary_function *function, struct pft_probe probe);

#endif
