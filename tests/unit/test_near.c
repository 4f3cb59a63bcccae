// SPDX-License-Identifier: MIT
// Memory near code: of the program, of a library, of a program at a fixed address.
#include "shim/near.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdlib.h>

#define PAGE 4096

static bool reaches(uintptr_t from, const char *to)
{
	intptr_t distance = (intptr_t)((uintptr_t)to - from);

	return distance == (int32_t)distance;
}

static void expect_near(uintptr_t low, uintptr_t high)
{
	const size_t bytes = 2 * PAGE;
	char *memory = pft_near_map(low, high, bytes);

	cr_assert_not_null(memory, "%#lx", low);
	memory[bytes - 1] = 1;
	cr_assert(reaches(low, memory));
	cr_assert(reaches(low, memory + bytes));
	cr_assert(reaches(high, memory));
	cr_assert(reaches(high, memory + bytes));
}

Test(near, memory_is_within_reach_of_every_byte)
{
	uintptr_t program = (uintptr_t)expect_near & -(uintptr_t)PAGE;

	expect_near(program, program + PAGE);
	expect_near((uintptr_t)abort, (uintptr_t)abort + 1);
	expect_near(0x400000, 0x500000);
	expect_near(0x10000, 0x20000);
	expect_near(0x10000, 0x70000000);
}

Test(near, there_is_no_such_memory_for_an_object_that_is_too_large)
{
	cr_assert_null(pft_near_map(0x400000, 0x90000000, PAGE));
}
