// SPDX-License-Identifier: MIT
// Unit tests of encoder/table.c. Run by Criterion.
#include "encoder/table.h"

#include <criterion/criterion.h>

#define MANY 20000

static struct pft_arena arena;
static struct pft_table table;

// Near each other, and far.
static uint64_t key_of(uint32_t i)
{
	return i % 2 ? i : (uint64_t)i << 40;
}

Test(table, finds_what_was_put_into_it)
{
	for (uint32_t i = 0; i < MANY; i++)
		cr_assert(pft_table_put(&table, &arena, key_of(i), i + 1));
	for (uint32_t i = 0; i < MANY; i++)
		cr_assert_eq(pft_table_get(&table, key_of(i)), i + 1);
	cr_assert_eq(table.used, MANY);
}

Test(table, finds_nothing_else)
{
	cr_assert_eq(pft_table_get(&table, 7), 0);
	cr_assert(pft_table_put(&table, &arena, 7, 1));
	cr_assert_eq(pft_table_get(&table, 0), 0);
	cr_assert_eq(pft_table_get(&table, 8), 0);
}

Test(table, forgets_all_at_once)
{
	for (uint32_t i = 0; i < 100; i++)
		cr_assert(pft_table_put(&table, &arena, key_of(i), i + 1));
	pft_table_clear(&table);
	cr_assert_eq(table.used, 0);
	for (uint32_t i = 0; i < 100; i++)
		cr_assert_eq(pft_table_get(&table, key_of(i)), 0);
	cr_assert(pft_table_put(&table, &arena, key_of(5), 9));
	cr_assert_eq(pft_table_get(&table, key_of(5)), 9);
}
