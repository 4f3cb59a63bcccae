// SPDX-License-Identifier: MIT
// Selectors: what they match, which one decides, and what is refused. Globs are tested through them.
#include "shim/select.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/glob.h"

static struct pft_arena arena;

static enum pft_verdict verdict(const char *text, const char *symbol, const char *object)
{
	struct pft_selection *selection = pft_selection_parse(text, &arena);

	cr_assert_not_null(selection, "%s", text);
	return pft_selection_match(selection, symbol, object);
}

static bool selects(const char *text, const char *symbol)
{
	return verdict(text, symbol, "libx.so.1") == PFT_SELECTED;
}

// What is said on stderr when `text` is refused.
static const char *refusal(const char *text)
{
	static char said[2048];
	int ends[2], before = dup(2);
	ssize_t length;

	cr_assert_eq(pipe(ends), 0);
	dup2(ends[1], 2);
	close(ends[1]);
	cr_expect_null(pft_selection_parse(text, &arena), "%s", text);
	dup2(before, 2);
	length = read(ends[0], said, sizeof(said) - 1);
	said[length > 0 ? length : 0] = '\0';
	return said;
}

static char paths[16][32];
static size_t path_count;

static const char *write_file(const char *content)
{
	char *path = paths[path_count++];
	int fd;

	strcpy(path, "/tmp/selectors.XXXXXX");
	fd = mkstemp(path);
	cr_assert_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	close(fd);
	return path;
}

static void remove_files(void)
{
	while (path_count)
		unlink(paths[--path_count]);
}

TestSuite(select, .fini = remove_files);

static const char *joined(const char *before, const char *path)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s", before, path);
	return pft_arena_copy(&arena, text, strlen(text));
}

Test(glob, matches_as_globs_do)
{
	static const struct {
		const char *glob, *text;
		bool matches;
	} cases[] = {
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "abc", true},
		{"a*", "b", false},
		{"a*c", "abbc", true},
		{"a*c", "abbd", false},
		{"*b*", "abc", true},
		{"*ab", "aab", true},
		{"*ab", "aba", false},
		{"a**b", "ab", true},
		{"a*b*c*d", "a-b-b-c-d", true},
		{"?", "a", true},
		{"?", "", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"[a-c]x", "bx", true},
		{"[a-c]x", "dx", false},
		{"[!a-c]", "d", true},
		{"[!a-c]", "a", false},
		{"[^a]", "a", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[a-]", "-", true},
		{"[\\]]", "]", true},
		{"[\\!a]", "!", true},
		{"\\*", "*", true},
		{"\\*", "a", false},
		{"[a]", "", false},
		{"*[0-9]", "v12", true},
		{"\xc3*", "\xc3\xa4", true},
		{"[\x80-\xff]", "\xc3", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(pft_glob_match(cases[i].glob, cases[i].text), cases[i].matches, "%s on %s",
			cases[i].glob, cases[i].text);
}

Test(glob, does_not_blow_up_on_many_stars, .timeout = 10)
{
	char text[100001];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_assert_not(pft_glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

Test(select, nothing_is_selected_by_no_text)
{
	cr_assert_eq(verdict(NULL, "f", "libx.so"), PFT_UNSELECTED);
	cr_assert_eq(verdict(" ,\n, ", "f", "libx.so"), PFT_UNSELECTED);
}

Test(select, a_name_without_wildcards_is_compared_whole)
{
	cr_assert(selects("read", "read"));
	cr_assert_not(selects("read", "reader"));
	cr_assert_not(selects("read", "rea"));
	cr_assert_not(selects("read", "pread"));
}

Test(select, commas_and_newlines_separate_and_blanks_are_ignored)
{
	const char *text = " read ,write\n\topen* ,\r\n - openat ";

	cr_assert(selects(text, "read"));
	cr_assert(selects(text, "write"));
	cr_assert(selects(text, "open64"));
	cr_assert_eq(verdict(text, "openat", NULL), PFT_EXCLUDED);
}

Test(select, the_last_selector_that_matches_decides)
{
	const char *text = "*,-mem*,memalign";

	cr_assert_eq(verdict(text, "f", NULL), PFT_SELECTED);
	cr_assert_eq(verdict(text, "memcpy", NULL), PFT_EXCLUDED);
	cr_assert_eq(verdict(text, "memalign", NULL), PFT_SELECTED);
	cr_assert_eq(verdict("f,-f,f,-f", "f", NULL), PFT_EXCLUDED);
}

Test(select, an_object_narrows)
{
	cr_assert_eq(verdict("inflate@libz*", "inflate", "libz.so.1"), PFT_SELECTED);
	cr_assert_eq(verdict("inflate @ libz.so.1", "inflate", "libz.so.1"), PFT_SELECTED);
	cr_assert_eq(verdict("inflate@libz*", "inflate", "libpng.so"), PFT_UNSELECTED);
	cr_assert_eq(verdict("*,-*@libz*", "inflate", "libz.so.1"), PFT_EXCLUDED);
}

static bool names(const char *text, const char *symbol)
{
	return pft_selection_names(pft_selection_parse(text, &arena), symbol, "libx.so");
}

Test(select, a_name_without_wildcards_names_its_function)
{
	cr_assert(names("read", "read"));
	cr_assert(names("read@lib*", "read"));
	cr_assert(names("*,f()", "_Z1fv"));
	cr_assert_not(names("rea?", "read"));
	cr_assert_not(names("read,*", "read"), "the last that matches decides");
	cr_assert_not(names("read,-read", "read"));
	cr_assert_not(names("read@liby*", "read"));
	cr_assert_not(names("read", "write"));
}

Test(select, an_unknown_object_matches_only_whichever_object)
{
	cr_assert_eq(verdict("f@libz*", "f", NULL), PFT_UNSELECTED);
	cr_assert_eq(verdict("f@?*", "f", NULL), PFT_UNSELECTED);
	cr_assert_eq(verdict("f@*", "f", NULL), PFT_SELECTED);
	cr_assert_eq(verdict("f", "f", NULL), PFT_SELECTED);
}

Test(select, cxx_names_match_mangled_and_demangled)
{
	const char *symbol = "_ZN5house4doorC1Eic"; // house::door::door(int, char)

	cr_assert(selects("_ZN5house4door*", symbol));
	cr_assert(selects("house::door::door", symbol));
	cr_assert(selects("house::door::door(int, char)", symbol));
	cr_assert(selects("house::*", symbol));
	cr_assert(selects("*(int*)", symbol));
	cr_assert_not(selects("door", symbol));
	cr_assert_not(selects("house::door::door(int)", symbol));
	cr_assert_eq(verdict("*,-house::*", symbol, NULL), PFT_EXCLUDED);
}

Test(select, rust_names_match_demangled)
{
	cr_assert(selects("core::fmt::write", "_ZN4core3fmt5write17h0123456789abcdefE"));
}

Test(select, a_comma_in_parentheses_or_behind_a_backslash_belongs_to_the_name)
{
	cr_assert(selects("house::f(int, char),read", "read"));
	cr_assert(selects("a\\,b", "a,b"));
	cr_assert_not(selects("a\\,b", "b"));
	cr_assert(selects("a\\@b", "a@b"));
	cr_assert(selects("a\\*b", "a*b"));
	cr_assert_not(selects("a\\*b", "aab"));
}

Test(select, reads_files_with_comments)
{
	const char *path = write_file("# what we look at\nread, write # both\n\n  -*@libz*\r\n{closure#0}");
	const char *text = joined("open,@", path);

	cr_assert(selects(text, "open"));
	cr_assert(selects(text, "read"));
	cr_assert(selects(text, "write"));
	cr_assert_not(selects(text, "both"));
	cr_assert(selects(text, "{closure#0}"));
	cr_assert_eq(verdict(text, "read", "libz.so.1"), PFT_EXCLUDED);
}

Test(select, files_name_files_eight_levels_down)
{
	const char *path = write_file("deepest");

	for (int level = 2; level <= 8; level++)
		path = write_file(joined("@", path));
	cr_assert(selects(joined("@", path), "deepest"));
	path = write_file(joined("@", path));
	cr_assert(strstr(refusal(joined("@", path)), "nested too deep"));
}

Test(select, refuses_with_one_line_that_says_what_and_why)
{
	static const struct {
		const char *text, *selector, *fault;
	} cases[] = {
		{"read,foo[a", "\"foo[a\"", "[ that is not closed"},
		{"f@lib[", "\"f@lib[\"", "[ that is not closed"},
		{"f\\", "\"f\\\"", "lone backslash"},
		{"f(int,g", "\"f(int,g\"", "( that is not closed"},
		{"f@", "\"f@\"", "no object"},
		{"-", "\"-\"", "no symbol"},
		{"-@x", "\"-@x\"", "no symbol"},
		{"@/no/such/file", "\"@/no/such/file\"", "cannot be read: No such file"},
		{"@/", "\"@/\"", "cannot be read: Is a directory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *line = refusal(cases[i].text);

		cr_expect(strstr(line, "PFT_FUNCS"), "%s", line);
		cr_expect(strstr(line, cases[i].selector), "%s: %s", cases[i].text, line);
		cr_expect(strstr(line, cases[i].fault), "%s: %s", cases[i].text, line);
		cr_expect(strstr(line, "accepted"), "%s", line);
		cr_expect_eq(strchr(line, '\n'), line + strlen(line) - 1, "%s", line);
	}
}

Test(never, leaves_what_a_trampoline_would_break_alone_with_a_reason)
{
	static const char *const names[] = {"setjmp", "_setjmp", "__sigsetjmp", "vfork", "getcontext",
		"swapcontext", "dlsym", "dlopen", "dl_iterate_phdr", "_dl_allocate_tls", "__tls_get_addr",
		"_Unwind_Resume", "__gxx_personality_v0", "rust_eh_personality", "clone", "__fentry__",
		"__asan_report_load8", "__libc_start_main", "_Ux86_64_getcontext", "__morestack"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect_not_null(pft_never_divert(names[i]), "%s", names[i]);
	cr_assert_str_eq(pft_never_divert("vfork"), "returns twice");
}

Test(never, leaves_nothing_else_alone)
{
	static const char *const names[] = {"", "main", "fork", "read", "longjmp", "siglongjmp", "dlclose",
		"dladdr", "exit", "_exit", "pthread_create", "__cxa_throw", "__stack_chk_fail", "cloned",
		"setjmp_like"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect_null(pft_never_divert(names[i]), "%s", names[i]);
}

Test(dev, leaves_short_pure_functions_out_in_all_their_forms)
{
	static const char *const names[] = {"memcpy", "__memcpy_chk", "strlen", "__strcpy_chk", "isalpha",
		"toupper", "__ctype_b_loc", "__errno_location", "floor", "floorf", "floorl", "wcslen",
		"__isoc23_strtol", "remainder"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect(pft_dev_leaves_out(names[i]), "%s", names[i]);
}

Test(dev, keeps_the_rest)
{
	static const char *const names[] = {"", "__", "_chk", "___chk", "strdup", "strerror",
		"memory_pool_alloc", "string_append", "malloc", "floors", "read", "__read_chk", "printf"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_expect_not(pft_dev_leaves_out(names[i]), "%s", names[i]);
}
