// SPDX-License-Identifier: MIT
// Unit tests of encoder/base/arena.c. Run by Criterion.
#include "encoder/base/arena.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct pft_arena arena;

static void empty(void)
{
	pft_arena_free(&arena);
}

TestSuite(arena, .fini = empty);

static bool is_zero(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != 0)
			return false;
	return true;
}

Test(arena, hands_out_aligned_zeroed_memory_that_does_not_overlap)
{
	unsigned char *first = pft_arena_alloc(&arena, 5);
	unsigned char *second = pft_arena_alloc(&arena, 100);

	cr_assert_eq((uintptr_t)first % 16, 0);
	cr_assert_eq((uintptr_t)second % 16, 0);
	memset(first, 0xff, 5);
	cr_assert(is_zero(second, 100));
}

Test(arena, grows_beyond_one_chunk)
{
	unsigned char *pieces[40];

	for (int i = 0; i < 40; i++) {
		pieces[i] = pft_arena_alloc(&arena, 10000);
		cr_assert(is_zero(pieces[i], 10000));
		memset(pieces[i], i + 1, 10000);
	}
	for (int i = 0; i < 40; i++) {
		cr_assert_eq(pieces[i][0], i + 1);
		cr_assert_eq(pieces[i][9999], i + 1);
	}
}

Test(arena, holds_a_piece_that_is_larger_than_a_chunk)
{
	unsigned char *large = pft_arena_alloc(&arena, 1 << 20);

	cr_assert_not_null(large);
	memset(large, 1, 1 << 20);
	cr_assert(is_zero(pft_arena_alloc(&arena, 64), 64));
}

Test(arena, zeroes_what_a_release_gave_back)
{
	unsigned char *kept = pft_arena_alloc(&arena, 32);
	struct pft_arena_mark mark = pft_arena_mark(&arena);
	unsigned char *first = pft_arena_alloc(&arena, 5000);

	memset(kept, 7, 32);
	memset(first, 0xff, 5000);
	pft_arena_release(&arena, mark);
	cr_assert_eq(pft_arena_alloc(&arena, 5000), first);
	cr_assert(is_zero(first, 5000));
	cr_assert_eq(kept[31], 7);
}

Test(arena, releases_over_several_chunks)
{
	struct pft_arena_mark mark;
	unsigned char *first;

	pft_arena_alloc(&arena, 16);
	mark = pft_arena_mark(&arena);
	first = pft_arena_alloc(&arena, 40000);
	memset(first, 0xff, 40000);
	for (int i = 0; i < 10; i++)
		memset(pft_arena_alloc(&arena, 50000), 0xff, 50000);
	pft_arena_release(&arena, mark);
	cr_assert_eq(pft_arena_alloc(&arena, 60000), first);
	cr_assert(is_zero(first, 60000));
}

Test(arena, releases_to_a_mark_of_the_empty_arena)
{
	struct pft_arena_mark mark = pft_arena_mark(&arena);

	memset(pft_arena_alloc(&arena, 100000), 0xff, 100000);
	pft_arena_release(&arena, mark);
	cr_assert_null(arena.last);
	cr_assert(is_zero(pft_arena_alloc(&arena, 100000), 100000));
}

Test(arena, copies_text_and_ends_it)
{
	cr_assert_str_eq(pft_arena_copy(&arena, "symbol@VERSION", 6), "symbol");
	cr_assert_str_eq(pft_arena_copy(&arena, "", 0), "");
}

Test(arena, answers_null_when_the_kernel_has_no_more)
{
	cr_assert_null(pft_arena_alloc(&arena, SIZE_MAX));
	cr_assert_null(pft_arena_alloc(&arena, SIZE_MAX / 4));
	cr_assert_null(pft_arena_copy(&arena, "", SIZE_MAX));
	cr_assert_not_null(pft_arena_alloc(&arena, 1));
}
