// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/histogram.c against sorted values. Run by Criterion.
#include "encoder/report/histogram.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>

#define VALUES 20000

static uint64_t values[VALUES];

static int by_size(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

// Spread over all powers of two up to 2^bits.
static uint64_t any_value(unsigned bits)
{
	uint64_t random = ((uint64_t)rand() << 42) ^ ((uint64_t)rand() << 21) ^ (uint64_t)rand();

	return random >> (64 - bits + rand() % bits);
}

static void assert_near(uint64_t found, uint64_t exact)
{
	double error = found > exact ? (double)(found - exact) : (double)(exact - found);

	cr_assert_leq(error, 0.016 * (double)exact, "%zu for %zu", (size_t)found, (size_t)exact);
}

Test(histogram, finds_every_quantile_within_less_than_two_percent)
{
	const double shares[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
	struct pft_arena arena = PFT_ARENA_EMPTY;

	for (unsigned bits = 4; bits <= 64; bits += 12) {
		struct pft_histogram histogram = {0};

		for (size_t i = 0; i < VALUES; i++) {
			values[i] = any_value(bits);
			pft_histogram_add(&histogram, &arena, values[i]);
		}
		qsort(values, VALUES, sizeof values[0], by_size);
		cr_assert_eq(histogram.count, VALUES);
		for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
			assert_near(pft_histogram_quantile(&histogram, shares[i]),
				values[(size_t)(shares[i] * VALUES) - 1]);
	}
	pft_arena_free(&arena);
}

Test(histogram, is_exact_for_small_values)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;

	for (uint64_t value = 0; value < 64; value++) {
		struct pft_histogram histogram = {0};

		pft_histogram_add(&histogram, &arena, value);
		cr_assert_eq(pft_histogram_quantile(&histogram, 0.5), value);
	}
	pft_arena_free(&arena);
}

Test(histogram, holds_the_greatest_value)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_histogram histogram = {0};

	pft_histogram_add(&histogram, &arena, UINT64_MAX);
	pft_histogram_add(&histogram, &arena, 0);
	assert_near(pft_histogram_quantile(&histogram, 1), UINT64_MAX);
	cr_assert_eq(pft_histogram_quantile(&histogram, 0), 0);
	pft_arena_free(&arena);
}

Test(histogram, of_nothing_has_no_quantiles)
{
	const struct pft_histogram histogram = {0};

	cr_assert_eq(pft_histogram_quantile(&histogram, 0.5), 0);
}

Test(histogram, adds_what_another_holds)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_histogram one = {0}, other = {0};

	pft_histogram_add(&one, &arena, 3);
	pft_histogram_add(&other, &arena, 3);
	pft_histogram_add(&other, &arena, 1000000);
	pft_histogram_merge(&one, &arena, &other);
	cr_assert_eq(one.count, 3);
	cr_assert_eq(other.count, 2);
	cr_assert_eq(pft_histogram_quantile(&one, 0.6), 3);
	assert_near(pft_histogram_quantile(&one, 1), 1000000);
	pft_arena_free(&arena);
}
