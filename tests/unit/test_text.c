// SPDX-License-Identifier: MIT
// Unit tests of encoder/base/text.c. Run by Criterion.
#include "encoder/base/text.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(text, joins_strings_and_numbers)
{
	char buffer[64];
	struct pft_text text = pft_text_in(buffer, sizeof buffer);

	cr_assert_str_eq(buffer, "");
	pft_text_add(&text, "pid ");
	pft_text_add_number(&text, 4096);
	pft_text_add(&text, " at 0x");
	pft_text_add_hex(&text, 0xdeadbeef);
	cr_assert_str_eq(buffer, "pid 4096 at 0xdeadbeef");
	cr_assert_eq(text.used, strlen(buffer));
	cr_assert_not(text.cut);
}

Test(text, writes_the_least_and_the_greatest_number)
{
	char buffer[64];
	struct pft_text text = pft_text_in(buffer, sizeof buffer);

	pft_text_add_number(&text, 0);
	pft_text_add(&text, " ");
	pft_text_add_number(&text, UINT64_MAX);
	pft_text_add(&text, " ");
	pft_text_add_hex(&text, UINT64_MAX);
	cr_assert_str_eq(buffer, "0 18446744073709551615 ffffffffffffffff");
}

Test(text, pads_with_zeros_but_never_cuts_digits)
{
	char buffer[64];
	struct pft_text text = pft_text_in(buffer, sizeof buffer);

	pft_text_add_padded(&text, 7, 2);
	pft_text_add(&text, ":");
	pft_text_add_padded(&text, 12345, 2);
	pft_text_add(&text, ":");
	pft_text_add_padded(&text, 1, 24);
	cr_assert_str_eq(buffer, "07:12345:000000000000000000000001");
}

Test(text, takes_bytes_without_an_end)
{
	char buffer[16];
	struct pft_text text = pft_text_in(buffer, sizeof buffer);

	pft_text_add_bytes(&text, "abcdef", 3);
	cr_assert_str_eq(buffer, "abc");
}

Test(text, cuts_what_does_not_fit_and_says_so)
{
	char buffer[8] = "zzzzzzz";
	struct pft_text text = pft_text_in(buffer, 6);

	pft_text_add(&text, "abc");
	pft_text_add_number(&text, 12345);
	cr_assert_str_eq(buffer, "abc12");
	cr_assert(text.cut);
	cr_assert_eq(buffer[6], 'z');
	pft_text_add(&text, "more");
	cr_assert_str_eq(buffer, "abc12");
}

Test(text, is_not_cut_when_it_just_fits)
{
	char buffer[4];
	struct pft_text text = pft_text_in(buffer, sizeof buffer);

	pft_text_add(&text, "abc");
	cr_assert_not(text.cut);
	pft_text_add(&text, "");
	cr_assert_not(text.cut);
}

Test(text, lives_in_a_buffer_of_one_byte)
{
	char buffer[1];
	struct pft_text text = pft_text_in(buffer, sizeof buffer);

	pft_text_add(&text, "a");
	cr_assert_str_eq(buffer, "");
	cr_assert(text.cut);
}
