// SPDX-License-Identifier: MIT
// Unit tests of encoder/intern.c. Run by Criterion.
#include "encoder/intern.h"

#include <criterion/criterion.h>

#define NEW_BOTH (PFT_INTERN_NEW_NAME | PFT_INTERN_NEW_CATEGORY)

static struct pft_arena arena;
static struct pft_intern intern;

static int add(uint32_t id, uint32_t name, uint32_t category)
{
	return pft_intern_add(&intern, &arena, id, (struct pft_shown){name, category});
}

Test(intern, knows_nothing_at_first)
{
	cr_assert_eq(pft_intern_find(&intern, 0).name, 0);
	cr_assert_eq(pft_intern_find(&intern, 65535).name, 0);
}

Test(intern, counts_ids_of_each_kind_from_one)
{
	cr_assert_eq(add(900, 5, 8), NEW_BOTH);
	cr_assert_eq(add(17, 3, 9), NEW_BOTH);
	cr_assert_eq(pft_intern_find(&intern, 900).name, 1);
	cr_assert_eq(pft_intern_find(&intern, 900).category, 1);
	cr_assert_eq(pft_intern_find(&intern, 17).name, 2);
	cr_assert_eq(pft_intern_find(&intern, 17).category, 2);
	cr_assert_eq(pft_intern_find(&intern, 18).name, 0);
}

Test(intern, gives_hooks_of_one_name_one_id)
{
	cr_assert_eq(add(20, 5, 8), NEW_BOTH);
	cr_assert_eq(add(21, 5, 8), 0);
	cr_assert_eq(add(22, 6, 8), PFT_INTERN_NEW_NAME);
	cr_assert_eq(pft_intern_find(&intern, 21).name, 1);
	cr_assert_eq(pft_intern_find(&intern, 22).name, 2);
	cr_assert_eq(pft_intern_find(&intern, 22).category, 1);
}

Test(intern, leaves_a_category_out_where_there_is_none)
{
	cr_assert_eq(add(20, 5, 0), PFT_INTERN_NEW_NAME);
	cr_assert_eq(pft_intern_find(&intern, 20).category, 0);
	cr_assert_eq(add(21, 6, 1), NEW_BOTH);
	cr_assert_eq(pft_intern_find(&intern, 21).category, 1);
}

Test(intern, forgets_everything_at_a_clear)
{
	add(20, 5, 8);
	add(21, 6, 0);
	pft_intern_clear(&intern);
	cr_assert_eq(pft_intern_find(&intern, 20).name, 0);
	cr_assert_eq(pft_intern_find(&intern, 21).name, 0);
	cr_assert_eq(add(21, 6, 8), NEW_BOTH);
	cr_assert_eq(pft_intern_find(&intern, 21).name, 1);
	cr_assert_eq(pft_intern_find(&intern, 21).category, 1);
}

Test(intern, keeps_all_ids_while_it_grows)
{
	for (uint32_t id = 65535; id >= 16; id--)
		cr_assert_eq(add(id, id - 15, 0), PFT_INTERN_NEW_NAME);
	for (uint32_t id = 16; id <= 65535; id++)
		cr_assert_eq(pft_intern_find(&intern, id).name, 65536 - id);
}
