// SPDX-License-Identifier: MIT
// Log-linear counting: see histogram.h. Flusher context. Values below 32 have a part each; above, the five
// bits behind the leading one name the part.
#include "encoder/report/histogram.h"

#define PART_BITS 5

_Static_assert(PFT_HISTOGRAM_PARTS == 1 << PART_BITS, "a part is named by five bits");

// Number of the power: 0 for what is below 32, then one more each time that the value doubles.
static uint32_t power_of(uint64_t value)
{
	uint32_t bits = 64 - (uint32_t)__builtin_clzll(value | 1);

	return bits <= PART_BITS ? 0 : bits - PART_BITS;
}

static uint32_t part_of(uint64_t value, uint32_t power)
{
	return (power == 0 ? value : value >> (power - 1)) & (PFT_HISTOGRAM_PARTS - 1);
}

// The middle of a part.
static uint64_t value_of(uint32_t power, uint32_t part)
{
	uint32_t shift = power - 1;

	if (power == 0)
		return part;
	return ((uint64_t)(PFT_HISTOGRAM_PARTS + part) << shift) + (((uint64_t)1 << shift) >> 1);
}

// The counts of a power's parts; NULL when there is no memory.
static uint64_t *parts_of(struct pft_histogram *histogram, struct pft_arena *arena, uint32_t power)
{
	uint64_t **parts = &histogram->powers[power];

	if (*parts == NULL)
		*parts = pft_arena_alloc(arena, PFT_HISTOGRAM_PARTS * sizeof **parts);
	return *parts;
}

void pft_histogram_add(struct pft_histogram *histogram, struct pft_arena *arena, uint64_t value)
{
	uint32_t power = power_of(value);
	uint64_t *parts = parts_of(histogram, arena, power);

	if (parts == NULL) {
		histogram->uncounted++;
		return;
	}
	parts[part_of(value, power)]++;
	histogram->count++;
}

void pft_histogram_merge(
	struct pft_histogram *histogram, struct pft_arena *arena, const struct pft_histogram *other)
{
	histogram->uncounted += other->uncounted;
	for (uint32_t power = 0; power < PFT_HISTOGRAM_POWERS; power++) {
		const uint64_t *from = other->powers[power];
		uint64_t *parts = from != NULL ? parts_of(histogram, arena, power) : NULL;

		for (uint32_t part = 0; from != NULL && part < PFT_HISTOGRAM_PARTS; part++) {
			if (parts == NULL) {
				histogram->uncounted += from[part];
				continue;
			}
			parts[part] += from[part];
			histogram->count += from[part];
		}
	}
}

// How many values are counted up to the one that is asked for, itself included.
static uint64_t rank_of(const struct pft_histogram *histogram, double share)
{
	double exact = share * (double)histogram->count;
	uint64_t rank = (uint64_t)exact;

	rank += (double)rank < exact;
	if (rank == 0)
		return 1;
	return rank < histogram->count ? rank : histogram->count;
}

uint64_t pft_histogram_quantile(const struct pft_histogram *histogram, double share)
{
	uint64_t left = rank_of(histogram, share);

	if (histogram->count == 0)
		return 0;
	for (uint32_t power = 0; power < PFT_HISTOGRAM_POWERS; power++) {
		const uint64_t *parts = histogram->powers[power];

		for (uint32_t part = 0; parts != NULL && part < PFT_HISTOGRAM_PARTS; part++) {
			if (parts[part] >= left)
				return value_of(power, part);
			left -= parts[part];
		}
	}
	return 0;
}
