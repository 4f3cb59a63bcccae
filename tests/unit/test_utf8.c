// SPDX-License-Identifier: MIT
// Unit tests of encoder/utf8.c. Run by Criterion.
#include "encoder/utf8.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *cleaned(const char *text)
{
	static char to[256];

	pft_utf8_clean(to, sizeof to, text);
	return to;
}

Test(utf8, keeps_what_is_valid)
{
	const char *text =
		"plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf \xf4\x8f\xbf\xbf \"quoted\"\n";

	cr_assert_str_eq(cleaned(text), text);
}

Test(utf8, replaces_each_byte_that_belongs_to_no_character)
{
	cr_assert_str_eq(cleaned("a\x80z"), "a\xef\xbf\xbdz");
	cr_assert_str_eq(cleaned("\xff\xfe"), "\xef\xbf\xbd\xef\xbf\xbd");
	cr_assert_str_eq(cleaned("\xc3("), "\xef\xbf\xbd(");
	cr_assert_str_eq(cleaned("\xe2\x82z"), "\xef\xbf\xbd\xef\xbf\xbdz");
}

Test(utf8, refuses_overlong_forms_surrogates_and_what_lies_beyond_the_last_character)
{
	cr_assert_str_eq(cleaned("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
	cr_assert_str_eq(cleaned("\xe0\x9f\xbf"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	cr_assert_str_eq(cleaned("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	cr_assert_str_eq(cleaned("\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

Test(utf8, does_not_read_beyond_the_end_of_a_text_that_is_cut_in_a_character)
{
	char *text = strdup("x\xf0\x9f\x98");

	cr_assert_str_eq(cleaned(text), "x\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	free(text);
}

Test(utf8, cuts_between_two_characters)
{
	char to[6];

	cr_assert_eq(pft_utf8_clean(to, sizeof to, "abc\xe2\x82\xac"), 3);
	cr_assert_str_eq(to, "abc");
	cr_assert_eq(pft_utf8_clean(to, sizeof to, "ab\xe2\x82\xac!"), 5);
	cr_assert_str_eq(to, "ab\xe2\x82\xac");
	cr_assert_eq(pft_utf8_clean(to, 1, "abc"), 0);
	cr_assert_str_eq(to, "");
}
