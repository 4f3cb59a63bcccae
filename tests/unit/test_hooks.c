// SPDX-License-Identifier: MIT
// Hooks are installed in a fixture library: which functions are chosen, how they are named, and that calls go
// through.
#define _GNU_SOURCE
#include "shim/hooks.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/log.h"
#include "tests/unit/captured.h"
#include "tests/unit/fixtures/open.h"
#include "tests/unit/seated.h"

#define LAZY "libfixture_lazy.so"
#define NOW "libfixture_now.so"

static struct pft_arena arena;
static struct pft_objects objects;
static void *library;

// Of all that is loaded: what others call is not looked at, but what they define is found.
static void look_at(const char *name)
{
	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
	for (size_t i = 0; i < objects.count; i++)
		if (strcmp(objects.all[i].name, name))
			objects.all[i].jump_count = objects.all[i].relocation_count = 0;
}

static int install_as(enum pft_mode mode, const char *functions)
{
	struct pft_settings settings = {.mode = mode, .functions = functions};

	return pft_hooks_install(
		pft_session, &objects, pft_selection_parse(functions, &arena), &settings, &arena);
}

static void open_library(const char *name)
{
	unsetenv("LD_BIND_NOW");
	library = fixture_open(name);
	look_at(name);
	seated_start(PFT_CLOCK_TSC);
}

static void install(const char *name, enum pft_mode mode, const char *functions)
{
	open_library(name);
	cr_assert_eq(install_as(mode, functions), 0);
}

static int call(const char *function, int argument)
{
	int (*pointer)(int) = (int (*)(int))dlsym(library, function);

	cr_assert_not_null(pointer);
	return pointer(argument);
}

// "object::symbol " of each hook, in order.
static const char *hooks(void)
{
	static char list[4096];

	list[0] = '\0';
	for (uint32_t id = PFT_HOOK_FIRST; id < pft_session->hooks; id++) {
		const struct pft_session_hook *hook = pft_session_hook(pft_session, id);

		strcat(list, pft_session_string(pft_session, hook->object));
		strcat(list, "::");
		strcat(list, pft_session_string(pft_session, hook->symbol));
		strcat(list, " ");
	}
	return list;
}

Test(hooks, are_what_is_selected)
{
	install(NOW, PFT_MODE_USER, "getppid");
	cr_assert_str_eq(hooks(), "libc.so.6::getppid ");
	cr_assert_eq(call("fixture_now_parent", 0), getppid());
	cr_assert_eq(call("fixture_now_absolute", -3), 3);
	cr_assert_str_eq(seated_records(), "+a -a");
}

Test(hooks, lead_through_slots_that_are_still_lazy)
{
	install(LAZY, PFT_MODE_USER, "getppid,abs");
	cr_assert_eq(call("fixture_lazy_absolute", -3), 3);
	cr_assert_eq(call("fixture_lazy_absolute", -4), 4);
	cr_assert_eq(call("fixture_lazy_parent", 0), getppid());
	cr_assert_eq(strlen(seated_records()), strlen("+a -a +a -a +b -b"));
}

Test(hooks, are_none_in_user_mode_without_a_selection)
{
	install(NOW, PFT_MODE_USER, NULL);
	cr_assert_str_eq(hooks(), "");
}

Test(hooks, are_within_an_object_when_that_is_selected)
{
	install(NOW, PFT_MODE_USER, "fixture_now_own");
	cr_assert_str_eq(hooks(), NOW "::fixture_now_own ");
	cr_assert_eq(call("fixture_now_call_own", 5), 11);
	cr_assert_str_eq(seated_records(), "+a -a");
}

Test(hooks, are_in_dev_mode_what_crosses_to_another_object)
{
	install(NOW, PFT_MODE_DEV, NULL);
	cr_assert_not_null(strstr(hooks(), "libc.so.6::getppid "));
	cr_assert_null(strstr(hooks(), "fixture_now_own"), "it stays within");
	cr_assert_null(strstr(hooks(), "::abs "), "it is short");
	cr_assert_null(strstr(hooks(), "nobody_defines_this"));
}

Test(hooks, are_in_dev_mode_also_what_is_selected_and_not_what_is_excluded)
{
	install(NOW, PFT_MODE_DEV, "abs,-getppid");
	cr_assert_not_null(strstr(hooks(), "libc.so.6::abs "));
	cr_assert_null(strstr(hooks(), "getppid"));
}

Test(hooks, are_what_is_selected_of_an_object)
{
	install(NOW, PFT_MODE_USER, "*@" NOW);
	cr_assert_not_null(strstr(hooks(), NOW "::fixture_now_own "));
	cr_assert_null(strstr(hooks(), "libc.so.6::"));
}

Test(hooks, never_are_what_asks_who_called_it_and_that_is_said)
{
	const char *line;

	open_library(NOW);
	pft_log_set_verbose(true);
	captured_start();
	pft_log_set_verbose(true); // stderr is another file now
	cr_assert_eq(install_as(PFT_MODE_USER, "dl_iterate_phdr,abs"), 0);
	line = captured_stop();
	cr_assert_str_eq(hooks(), "libc.so.6::abs ");
	cr_assert_not_null(strstr(line, "left alone: dl_iterate_phdr: it asks who called it"), "%s", line);
	cr_assert_eq(call("fixture_now_iterate", 7), 7);
}

Test(hooks, beyond_the_last_are_said_and_the_others_lead_through)
{
	const char *line;
	int error;

	open_library(NOW);
	pft_session->hooks = PFT_HOOKS_MAX - 1;
	captured_start();
	error = install_as(PFT_MODE_USER, "getppid,abs");
	line = captured_stop();
	cr_assert_eq(error, 0);
	cr_assert_not_null(strstr(line, NOW), "%s", line);
	cr_assert_eq(pft_session->hooks, PFT_HOOKS_MAX);
	cr_assert_eq(call("fixture_now_absolute", -3), 3);
	cr_assert_eq(call("fixture_now_parent", 0), getppid());
	cr_assert_eq(pft_head_position(pft_self->head), 32, "one of them is recorded");
}

Test(hooks, that_cannot_be_named_are_not_installed)
{
	open_library(NOW);
	munmap(pft_session_hook(pft_session, 0), 4096);
	cr_assert_lt(install_as(PFT_MODE_USER, "getppid"), 0);
	cr_assert_eq(call("fixture_now_parent", 0), getppid());
	cr_assert_str_eq(seated_records(), "");
}
