// SPDX-License-Identifier: MIT
// Unit tests of encoder/strings.c. Run by Criterion.
#include "encoder/strings.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

#define MANY 5000

static struct pft_arena memory;
static struct pft_strings strings;

static uint32_t number(unsigned i)
{
	char text[32];

	snprintf(text, sizeof text, "string %u", i);
	return pft_strings_number(&strings, text);
}

static void set_up(void)
{
	strings = (struct pft_strings){.memory = &memory};
}

static void tear_down(void)
{
	pft_arena_free(&memory);
}

TestSuite(strings, .init = set_up, .fini = tear_down);

Test(strings, have_one_number_each)
{
	static uint32_t numbers[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		numbers[i] = number(i);
		cr_assert_eq(numbers[i], i + 1);
	}
	for (unsigned i = 0; i < MANY; i++)
		cr_assert_eq(number(i), numbers[i]);
	cr_assert_eq(strings.used, MANY);
}

Test(strings, are_copied)
{
	char text[] = "before";
	uint32_t before = pft_strings_number(&strings, text);

	text[0] = 'B';
	cr_assert_str_eq(pft_strings_text(&strings, before), "before");
	cr_assert_neq(pft_strings_number(&strings, text), before);
}

Test(strings, may_be_empty)
{
	uint32_t empty = pft_strings_number(&strings, "");

	cr_assert_neq(empty, 0);
	cr_assert_str_eq(pft_strings_text(&strings, empty), "");
}

Test(strings, of_number_zero_are_none)
{
	cr_assert_null(pft_strings_text(&strings, 0));
}
