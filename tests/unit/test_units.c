// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/units.c. Run by Criterion.
#include "encoder/report/units.h"

#include <criterion/criterion.h>

static char buffer[64];

static struct pft_text empty(void)
{
	return pft_text_in(buffer, sizeof buffer);
}

typedef void add_function(struct pft_text *text, uint64_t value);

static void assert_says(add_function *add, uint64_t value, const char *words)
{
	struct pft_text text = empty();

	add(&text, value);
	cr_assert_str_eq(buffer, words);
}

static void assert_share(double share, const char *words)
{
	struct pft_text text = empty();

	pft_text_add_share(&text, share);
	cr_assert_str_eq(buffer, words);
}

Test(units, durations_have_the_unit_that_fits)
{
	assert_says(pft_text_add_duration, 0, "0 ns");
	assert_says(pft_text_add_duration, 999, "999 ns");
	assert_says(pft_text_add_duration, 1000, "1.0 us");
	assert_says(pft_text_add_duration, 12345, "12 us");
	assert_says(pft_text_add_duration, 9999999, "9.9 ms");
	assert_says(pft_text_add_duration, 1500000000, "1.5 s");
	assert_says(pft_text_add_duration, UINT64_MAX, "18446744074 s");
}

Test(units, shares_are_percent)
{
	assert_share(0, "0.0 %");
	assert_share(0.0314, "3.1 %");
	assert_share(0.42, "42 %");
	assert_share(1, "100 %");
	assert_share(-0.5, "0.0 %");
}

Test(units, things_are_counted_in_words)
{
	struct pft_text text = empty();

	pft_text_add_things(&text, 1, "call");
	pft_text_add(&text, " in ");
	pft_text_add_things(&text, 2000, "thread");
	cr_assert_str_eq(buffer, "1 call in 2,000 threads");
}

Test(units, counts_have_commas)
{
	assert_says(pft_text_add_count, 0, "0");
	assert_says(pft_text_add_count, 999, "999");
	assert_says(pft_text_add_count, 1000, "1,000");
	assert_says(pft_text_add_count, 1002003, "1,002,003");
}

Test(units, sizes_have_the_unit_that_fits)
{
	assert_says(pft_text_add_size, 0, "0 B");
	assert_says(pft_text_add_size, 1023, "1023 B");
	assert_says(pft_text_add_size, 1024, "1.0 KiB");
	assert_says(pft_text_add_size, 1536, "1.5 KiB");
	assert_says(pft_text_add_size, UINT64_C(1) << 20, "1.0 MiB");
	assert_says(pft_text_add_size, (UINT64_C(1) << 20) - 1, "1024 KiB");
	assert_says(pft_text_add_size, UINT64_C(5) << 30, "5.0 GiB");
	assert_says(pft_text_add_size, UINT64_C(5) << 50, "5120 TiB");
}

Test(units, ages_are_whole_units)
{
	assert_says(pft_text_add_age, 0, "0 s");
	assert_says(pft_text_add_age, 59, "59 s");
	assert_says(pft_text_add_age, 60, "1 min");
	assert_says(pft_text_add_age, 3599, "59 min");
	assert_says(pft_text_add_age, 3600, "1 h");
	assert_says(pft_text_add_age, 47 * 3600, "47 h");
	assert_says(pft_text_add_age, 48 * 3600, "2 d");
	assert_says(pft_text_add_age, 400 * 86400, "400 d");
}

Test(units, columns_end_at_the_right)
{
	struct pft_text text = empty();

	pft_text_add(&text, "ab");
	pft_text_align_right(&text, 0, 4);
	cr_assert_str_eq(buffer, "  ab");
	pft_text_add(&text, "12345");
	pft_text_align_right(&text, 4, 4);
	cr_assert_str_eq(buffer, "  ab 12345");
}
