// SPDX-License-Identifier: MIT
// Batches of calls: see spread.h.
#include "encoder/report/spread.h"

// With fewer batches their variance says little.
#define FEWEST 6

// A variance that is not so many times as large as another may be so by chance.
#define LARGER 1.5

// How many of `count` batches are left out: some of the fastest, and more of the slowest, as a call may be
// interrupted for long, but nothing makes one fast.
#define FASTEST(count) ((count) / 8)
#define SLOWEST(count) ((count)*3 / 8)

static void join_neighbours(struct pft_spread *spread)
{
	spread->whole /= 2;
	for (uint32_t i = 0; i < spread->whole; i++)
		spread->sums_ns[i] = spread->sums_ns[2 * i] + spread->sums_ns[2 * i + 1];
	spread->batch *= 2;
}

void pft_spread_add(struct pft_spread *spread, uint64_t ns)
{
	if (spread->batch == 0)
		spread->batch = 1;
	if (spread->whole == PFT_SPREAD_BATCHES)
		join_neighbours(spread);
	if (spread->filled == 0)
		spread->sums_ns[spread->whole] = 0;
	spread->sums_ns[spread->whole] += ns;
	if (++spread->filled < spread->batch)
		return;
	spread->filled = 0;
	spread->whole++;
}

static void sort(double *values, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		double moved = values[i];
		uint32_t place = i;

		for (; place > 0 && values[place - 1] > moved; place--)
			values[place] = values[place - 1];
		values[place] = moved;
	}
}

static double mean_of(const double *values, uint32_t count)
{
	double mean = 0;

	for (uint32_t i = 0; i < count; i++)
		mean += values[i] / count;
	return mean;
}

static double squares_of(const double *values, uint32_t count)
{
	double mean = mean_of(values, count), squares = 0;

	for (uint32_t i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return squares;
}

// The variance of the sum of so many values as these.
static double variance_of_sum(const double *values, uint32_t count)
{
	return squares_of(values, count) / (count - 1) * count;
}

// The trimmed mean of `count` batches, and its variance by Tukey and McLaughlin: for what is left out the
// value next to it stands in, also in `sums_ns`. Both for `batches` batches together.
static struct pft_typical typical_of(double *sums_ns, uint32_t count, double batches)
{
	uint32_t fastest = FASTEST(count), slowest = SLOWEST(count), left = count - fastest - slowest;
	double sorted[PFT_SPREAD_BATCHES] = {0}, least, most;

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = sums_ns[i];
	sort(sorted, count);
	least = sorted[fastest];
	most = sorted[count - 1 - slowest];
	for (uint32_t i = 0; i < count; i++)
		sums_ns[i] = sums_ns[i] < least ? least : sums_ns[i] > most ? most : sums_ns[i];
	return (struct pft_typical){.ns = mean_of(sorted + fastest, left) * batches,
		.variance_ns2 = squares_of(sums_ns, count) / left / (left - 1) * batches * batches,
		.freedom = (double)left - 1};
}

// A phase that is longer than a batch makes neighbours alike. Then larger batches, of which there are fewer,
// show a variance that is larger than chance would make it. `sums_ns` are used up.
static void look_at_larger_batches(struct pft_typical *typical, double *sums_ns, uint32_t count)
{
	double first = variance_of_sum(sums_ns, count), worst = first;

	for (uint32_t finer = count; (count = finer / 2) >= FEWEST; finer = count) {
		double variance;

		for (uint32_t i = 0; i < count; i++)
			sums_ns[i] = sums_ns[2 * i] + sums_ns[2 * i + 1];
		variance = variance_of_sum(sums_ns, count);
		if (first <= 0 || variance <= LARGER * worst)
			continue;
		worst = variance;
		typical->freedom = (double)count - 1;
	}
	if (worst > first)
		typical->variance_ns2 *= worst / first;
}

struct pft_typical pft_spread_typical(const struct pft_spread *spread)
{
	double sums_ns[PFT_SPREAD_BATCHES] = {0};
	struct pft_typical typical = {.freedom = 0};
	double batches;

	for (uint32_t i = 0; i < spread->whole; i++)
		typical.ns += sums_ns[i] = (double)spread->sums_ns[i];
	if (spread->whole < FEWEST) {
		typical.ns += spread->filled ? (double)spread->sums_ns[spread->whole] : 0;
		return typical;
	}
	batches = spread->whole + (double)spread->filled / (double)spread->batch;
	typical = typical_of(sums_ns, spread->whole, batches);
	look_at_larger_batches(&typical, sums_ns, spread->whole);
	return typical;
}
