// SPDX-License-Identifier: MIT
// Unit tests of encoder/demangle.c and encoder/libiberty.c. Run by Criterion.
#include "encoder/demangle.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "encoder/libiberty.h"

static struct pft_arena arena;

static void check(const char *symbol, const char *plain, const char *with_parameters)
{
	cr_assert_str_eq(pft_demangle(symbol, 0, &arena), plain);
	cr_assert_str_eq(pft_demangle(symbol, 1, &arena), with_parameters);
}

Test(demangle, shows_cplusplus_with_and_without_parameters)
{
	check("_ZN3net6Socket4sendEPKcm", "net::Socket::send",
		"net::Socket::send(char const*, unsigned long)");
	check("_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector<int, std::allocator<int> >::size",
		"std::vector<int, std::allocator<int> >::size() const");
	check("_ZN1AC1Ev", "A::A", "A::A()");
}

Test(demangle, leaves_out_the_return_type_of_a_template)
{
	check("_Z3fooIiEvT_", "foo<int>", "foo<int>(int)");
}

Test(demangle, prints_numbers_without_the_help_of_libc)
{
	check("_Z1fILin2147483648EEvv", "f<-2147483648>", "f<-2147483648>()");
	check("_ZZ4mainENKUlvE1_clEv", "main::{lambda()#3}::operator()",
		"main::{lambda()#3}::operator()() const");
	check("_RIC0Kj2a_E", "::<42>", "::<42>");
}

Test(demangle, shows_rust_without_its_hash)
{
	check("_ZN4core3fmt9Formatter3pad17h05af221e174051e9E", "core::fmt::Formatter::pad",
		"core::fmt::Formatter::pad");
	check("_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo");
}

Test(demangle, takes_memory_for_punycode_from_the_arena)
{
	check("_RNvC4testu8gdel_5qa", "test::g\u00f6del", "test::g\u00f6del");
}

Test(demangle, leaves_alone_what_is_not_mangled)
{
	cr_assert_null(pft_demangle("main", 0, &arena));
	cr_assert_null(pft_demangle("", 0, &arena));
	cr_assert_null(pft_demangle("_", 0, &arena));
	cr_assert_null(pft_demangle("_Zebra", 0, &arena));
	cr_assert_null(pft_demangle("_Rust", 1, &arena));
}

Test(demangle, keeps_nothing_in_the_arena_for_a_name_it_cannot_show)
{
	struct pft_arena_mark before;

	pft_arena_alloc(&arena, 1);
	before = pft_arena_mark(&arena);
	pft_demangle("_RNvC4testu9gdel_5qa", 0, &arena);
	cr_assert_eq(pft_arena_mark(&arena).used, before.used);
}

// Each parameter is twice the one before it: two to the power of thirty in the end.
Test(demangle, gives_up_on_a_name_that_explodes, .timeout = 5)
{
	const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char symbol[1024] = "_Z1f1aIiiES_IS0_S0_E";

	for (int i = 1; i < 30; i++) {
		char more[] = "S_IS?_S?_E";

		more[4] = more[7] = digits[i];
		strcat(symbol, more);
	}
	cr_assert_str_eq(pft_demangle(symbol, 0, &arena), "f");
	cr_assert_null(pft_demangle(symbol, 1, &arena));
	cr_assert_str_eq(pft_demangle("_Z1fv", 1, &arena), "f()");
}

static void repeat(char *out, const char *head, const char *piece, int count, const char *tail)
{
	strcpy(out, head);
	while (count-- > 0)
		strcat(out, piece);
	strcat(out, tail);
}

static void *demangle_deep_names(void *unused)
{
	static const char *const pieces[] = {
		"P", "PK", "A1_", "1AI", "PF", "ng", "Z", "RT_", "XL_Z1fI", "N", "cl", "1a"};
	static char symbol[8192];

	(void)unused;
	for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
		for (int count = 1; count < 700; count += 3) {
			repeat(symbol, "_Z1f", pieces[i], count, "i");
			pft_demangle(symbol, 1, &arena);
			repeat(symbol, "_Z1fIiEDT", pieces[i], count, "T_Ev");
			pft_demangle(symbol, 1, &arena);
			repeat(symbol, "_R", pieces[i], count, "C1a");
			pft_demangle(symbol, 1, &arena);
		}
	}
	return NULL;
}

// Whoever asks may have a stack of the least size; pthread puts its guard page below.
Test(demangle, needs_little_of_the_callers_stack)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32 << 10);
	cr_assert_eq(pthread_create(&thread, &attributes, demangle_deep_names, NULL), 0);
	pthread_join(thread, NULL);
}

Test(demangle, shows_a_long_name_of_ordinary_shape)
{
	char symbol[1024] = "_ZN7library", shown[2048] = "library";

	for (int i = 0; i < 40; i++) {
		strcat(symbol, "15inner_namespace");
		strcat(shown, "::inner_namespace");
	}
	strcat(symbol, "3runEv");
	strcat(shown, "::run");
	cr_assert_str_eq(pft_demangle(symbol, 0, &arena), shown);
}

static void demangle_inside(void *shown)
{
	*(const char **)shown = pft_demangle("_Z1fv", 0, &arena);
}

static void stay_inside(void *flag)
{
	__atomic_store_n((bool *)flag, true, __ATOMIC_RELEASE);
	usleep(2000);
}

static void *run_inside(void *flag)
{
	static struct pft_arena other;

	cr_assert(pft_libiberty_run(&other, stay_inside, flag));
	return NULL;
}

Test(demangle, waits_for_another_thread_that_is_inside)
{
	bool is_inside = false;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, run_inside, &is_inside), 0);
	while (!__atomic_load_n(&is_inside, __ATOMIC_ACQUIRE))
		continue;
	cr_assert_str_eq(pft_demangle("_Z1fv", 0, &arena), "f");
	pthread_join(thread, NULL);
}

Test(demangle, refuses_a_second_caller_when_the_first_one_stays)
{
	const char *shown = "untouched";

	cr_assert(pft_libiberty_run(&arena, demangle_inside, &shown));
	cr_assert_null(shown);
	cr_assert_str_eq(pft_demangle("_Z1fv", 0, &arena), "f");
}
