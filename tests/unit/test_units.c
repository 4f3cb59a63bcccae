// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/units.c. Run by Criterion.
#include "encoder/report/units.h"

#include <criterion/criterion.h>

static char buffer[64];

static struct pft_text empty(void)
{
	return pft_text_in(buffer, sizeof buffer);
}

static void assert_duration(uint64_t ns, const char *words)
{
	struct pft_text text = empty();

	pft_text_add_duration(&text, ns);
	cr_assert_str_eq(buffer, words);
}

static void assert_share(double share, const char *words)
{
	struct pft_text text = empty();

	pft_text_add_share(&text, share);
	cr_assert_str_eq(buffer, words);
}

static void assert_count(uint64_t count, const char *words)
{
	struct pft_text text = empty();

	pft_text_add_count(&text, count);
	cr_assert_str_eq(buffer, words);
}

Test(units, durations_have_the_unit_that_fits)
{
	assert_duration(0, "0 ns");
	assert_duration(999, "999 ns");
	assert_duration(1000, "1.0 us");
	assert_duration(12345, "12 us");
	assert_duration(9999999, "9.9 ms");
	assert_duration(1500000000, "1.5 s");
	assert_duration(UINT64_MAX, "18446744074 s");
}

Test(units, shares_are_percent)
{
	assert_share(0, "0.0 %");
	assert_share(0.0314, "3.1 %");
	assert_share(0.42, "42 %");
	assert_share(1, "100 %");
	assert_share(-0.5, "0.0 %");
}

Test(units, counts_have_commas)
{
	assert_count(0, "0");
	assert_count(999, "999");
	assert_count(1000, "1,000");
	assert_count(1002003, "1,002,003");
}
