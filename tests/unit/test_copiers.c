// SPDX-License-Identifier: MIT
// Unit tests of shim/copiers.c. Run by Criterion.
#include "shim/copiers.h"

#include <criterion/criterion.h>

Test(copiers, are_known_by_the_names_of_their_objects)
{
	cr_assert(pft_copies_stacks("_greenlet.cpython-311-x86_64-linux-gnu.so"));
	cr_assert(pft_copies_stacks("_greenlet.so"));
	cr_assert(pft_copies_stacks("greenlet.cpython-36m-x86_64-linux-gnu.so"));
	cr_assert(pft_copies_stacks("continuation.so"));
}

Test(copiers, are_not_what_switches_stacks_or_only_has_such_a_name)
{
	cr_assert_not(pft_copies_stacks("libcoro.so"));
	cr_assert_not(pft_copies_stacks("_greenlet_tools.cpython-311-x86_64-linux-gnu.so"));
	cr_assert_not(pft_copies_stacks("libcontinuation.so.1"));
	cr_assert_not(pft_copies_stacks(""));
}
