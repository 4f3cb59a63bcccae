// SPDX-License-Identifier: MIT
// Keeping the worst findings in order: see findings.h. Any single thread; pure.
#include "encoder/report/findings.h"

#include <stddef.h>

static enum pft_severity severity_of(double share)
{
	if (share >= 0.6)
		return PFT_SEVERITY_CRITICAL;
	if (share >= 0.3)
		return PFT_SEVERITY_HIGH;
	return share >= 0.15 ? PFT_SEVERITY_MEDIUM : PFT_SEVERITY_LOW;
}

static bool is_worse(const struct pft_bottleneck *one, const struct pft_bottleneck *other)
{
	return one->severity != other->severity ? one->severity > other->severity : one->share > other->share;
}

struct pft_bottleneck *pft_bottleneck_keep(
	struct pft_bottlenecks *bottlenecks, const struct pft_bottleneck *bottleneck)
{
	uint32_t place = bottlenecks->count;

	if (place == PFT_BOTTLENECKS_MAX && !is_worse(bottleneck, &bottlenecks->found[place - 1]))
		return NULL;
	if (place < PFT_BOTTLENECKS_MAX)
		bottlenecks->count++;
	else
		place--;
	for (; place != 0 && is_worse(bottleneck, &bottlenecks->found[place - 1]); place--)
		bottlenecks->found[place] = bottlenecks->found[place - 1];
	bottlenecks->found[place] = *bottleneck;
	return &bottlenecks->found[place];
}

struct pft_bottleneck pft_bottleneck_about(
	enum pft_bottleneck_type type, uint64_t at_ns, uint64_t cost_ns, uint64_t of_ns)
{
	double share = of_ns != 0 ? (double)cost_ns / (double)of_ns : 0;

	return (struct pft_bottleneck){.type = type,
		.severity = severity_of(share),
		.at_ns = at_ns,
		.cost_ns = cost_ns,
		.share = share};
}
