// SPDX-License-Identifier: MIT
// What the rules of bottlenecks have in common. Called by findings_*.c and bottlenecks.c alone. Any single
// thread; pure.
#ifndef PFT_FINDINGS_H
#define PFT_FINDINGS_H

#include <stdint.h>

#include "encoder/report/bottlenecks.h"

#define PFT_MS UINT64_C(1000000)

// A bottleneck that took `cost_ns` out of `of_ns`, from which follows how severe it is.
struct pft_bottleneck pft_bottleneck_about(
	enum pft_bottleneck_type type, uint64_t at_ns, uint64_t cost_ns, uint64_t of_ns);

// Its place in the list, where place and evidence are to be filled in; NULL when there are enough worse ones.
struct pft_bottleneck *pft_bottleneck_keep(
	struct pft_bottlenecks *bottlenecks, const struct pft_bottleneck *bottleneck);

// The rules for one function, for all threads, and for the recorder itself.
void pft_findings_in_function(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary,
	uint32_t function, struct pft_probe probe);
void pft_findings_in_threads(struct pft_bottlenecks *bottlenecks, struct pft_summary *summary);
void pft_findings_in_recording(struct pft_bottlenecks *bottlenecks, const struct pft_summary *summary);

#endif
