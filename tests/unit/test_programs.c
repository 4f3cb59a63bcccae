// SPDX-License-Identifier: MIT
// Which programs of a tree record.
#include "shim/programs.h"

#include <criterion/criterion.h>
#include <string.h>

Test(programs, are_selected_by_globs)
{
	cr_assert(pft_programs_select("cc1*,as", "cc1plus"));
	cr_assert(pft_programs_select("cc1*,as", "as"));
	cr_assert_not(pft_programs_select("cc1*,as", "bash"));
	cr_assert_not(pft_programs_select("cc1*,as", "a"));
}

Test(programs, are_all_but_the_excluded_ones_where_exclusion_comes_first)
{
	cr_assert(pft_programs_select("-sh,-make", "cc1"));
	cr_assert_not(pft_programs_select("-sh,-make", "make"));
	cr_assert_not(pft_programs_select("c*,-cc1", "make"));
}

Test(programs, go_by_the_last_glob_that_matches)
{
	cr_assert_not(pft_programs_select("c*,-cc1*", "cc1plus"));
	cr_assert(pft_programs_select("c*,-cc1*,cc1plus", "cc1plus"));
	cr_assert(pft_programs_select("-*,git", "git"));
	cr_assert_not(pft_programs_select("-*,git", "ssh"));
}

Test(programs, stand_between_commas_and_blanks)
{
	cr_assert(pft_programs_select(" git , ssh\n,, less ", "ssh"));
	cr_assert(pft_programs_select(" git , ssh\n,, less ", "less"));
	cr_assert(pft_programs_valid(" git , ssh\n,, less ,"));
	cr_assert(pft_programs_select("two words,-x", "two words"));
}

Test(programs, of_a_list_that_is_none_are_refused)
{
	char long_list[2000];

	memset(long_list, 'x', sizeof(long_list) - 1);
	long_list[sizeof(long_list) - 1] = '\0';
	cr_assert_not(pft_programs_valid("git,[a"));
	cr_assert_not(pft_programs_valid("git,-"));
	cr_assert_not(pft_programs_valid(" ,, "));
	cr_assert_not(pft_programs_valid(long_list));
	cr_assert(pft_programs_valid("git,-ssh"));
}
