// SPDX-License-Identifier: MIT
// Unit tests of encoder/base/string.c. Run by Criterion. The functions are called through pointers, or the
// compiler would put its own knowledge in their place.
#include <criterion/criterion.h>
#include <string.h>

static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
static void *(*volatile move)(void *, const void *, size_t) = memmove;
static void *(*volatile fill)(void *, int, size_t) = memset;
static int (*volatile compare_bytes)(const void *, const void *, size_t) = memcmp;
static size_t (*volatile length)(const char *) = strlen;
static size_t (*volatile length_within)(const char *, size_t) = strnlen;
static int (*volatile compare)(const char *, const char *) = strcmp;
static int (*volatile compare_within)(const char *, const char *, size_t) = strncmp;
static char *(*volatile find)(const char *, int) = strchr;
static char *(*volatile find_or_end)(const char *, int) = strchrnul;
static char *(*volatile find_last)(const char *, int) = strrchr;
static void *(*volatile find_last_within)(const void *, int, size_t) = memrchr;
static char *(*volatile find_part)(const char *, const char *) = strstr;

Test(string, is_the_librarys_own)
{
	extern char __executable_start[], etext[];

	cr_assert((char *)length >= __executable_start && (char *)length < etext);
	cr_assert((char *)copy >= __executable_start && (char *)copy < etext);
}

Test(string, copies_so_many_bytes_and_answers_where)
{
	char to[8] = "-------";

	cr_assert_eq(copy(to + 1, "abcdef", 3), to + 1);
	cr_assert_str_eq(to, "-abc---");
	copy(to, "x", 0);
	cr_assert_str_eq(to, "-abc---");
}

Test(string, moves_either_way_when_places_overlap)
{
	char up[] = "abcdefgh", down[] = "abcdefgh";

	cr_assert_eq(move(up + 2, up, 5), up + 2);
	cr_assert_str_eq(up, "ababcdeh");
	cr_assert_eq(move(down, down + 2, 5), down);
	cr_assert_str_eq(down, "cdefgfgh");
}

Test(string, leaves_the_direction_flag_clear)
{
	char text[] = "abcdefgh";
	unsigned long flags;

	move(text + 1, text, 4);
	flags = __builtin_ia32_readeflags_u64();
	cr_assert_not(flags & 0x400);
}

Test(string, fills_with_the_low_byte)
{
	char text[] = "abcdef";

	cr_assert_eq(fill(text + 1, 0x100 | 'z', 3), text + 1);
	cr_assert_str_eq(text, "azzzef");
}

Test(string, compares_bytes_as_unsigned_and_past_nul)
{
	cr_assert_eq(compare_bytes("a\0b", "a\0c", 2), 0);
	cr_assert_lt(compare_bytes("a\0b", "a\0c", 3), 0);
	cr_assert_gt(compare_bytes("\xff", "\x01", 1), 0);
	cr_assert_eq(compare_bytes("a", "b", 0), 0);
}

Test(string, measures_up_to_nul_or_the_bound)
{
	cr_assert_eq(length(""), 0);
	cr_assert_eq(length("abc"), 3);
	cr_assert_eq(length_within("abc", 2), 2);
	cr_assert_eq(length_within("abc", 9), 3);
}

Test(string, compares_texts_as_unsigned_up_to_nul_or_the_bound)
{
	cr_assert_eq(compare("abc", "abc"), 0);
	cr_assert_lt(compare("ab", "abc"), 0);
	cr_assert_gt(compare("\xff", "a"), 0);
	cr_assert_eq(compare_within("abc", "abd", 2), 0);
	cr_assert_lt(compare_within("abc", "abd", 3), 0);
	cr_assert_eq(compare_within("ab\0c", "ab\0d", 4), 0);
}

Test(string, finds_the_first_the_last_and_the_end)
{
	static const char text[] = "a/b/c";

	cr_assert_eq(find(text, '/'), text + 1);
	cr_assert_null(find(text, 'x'));
	cr_assert_eq(find(text, '\0'), text + 5);
	cr_assert_eq(find(text, 0x100 | 'b'), text + 2);
	cr_assert_eq(find_or_end(text, '/'), text + 1);
	cr_assert_eq(find_or_end(text, 'x'), text + 5);
	cr_assert_eq(find_last(text, '/'), text + 3);
	cr_assert_null(find_last(text, 'x'));
	cr_assert_eq(find_last(text, '\0'), text + 5);
}

Test(string, finds_the_last_within_a_bound)
{
	static const char text[] = "a/b/c";

	cr_assert_eq(find_last_within(text, '/', 5), text + 3);
	cr_assert_eq(find_last_within(text, '/', 3), text + 1);
	cr_assert_null(find_last_within(text, '/', 1));
	cr_assert_null(find_last_within(text, 'a', 0));
}

Test(string, finds_a_part)
{
	static const char text[] = "aab aabc";

	cr_assert_eq(find_part(text, "aabc"), text + 4);
	cr_assert_eq(find_part(text, ""), text);
	cr_assert_null(find_part(text, "abcd"));
	cr_assert_null(find_part("", "a"));
	cr_assert_eq(find_part(text, "c"), text + 7);
}
