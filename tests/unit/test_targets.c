// SPDX-License-Identifier: MIT
// What is chosen among the slots of fixture libraries, and how it shall be diverted.
#include "shim/targets.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/captured.h"
#include "tests/unit/fixtures/open.h"

static struct pft_arena arena;
static struct pft_objects objects;
static struct pft_settings settings;
static struct pft_targets targets;

static const struct pft_object *object_named(const char *name)
{
	for (size_t i = 0; i < objects.count; i++)
		if (!strcmp(objects.all[i].name, name))
			return &objects.all[i];
	cr_assert_fail("%s is not listed", name);
	return NULL;
}

static void choose(const char *library, const char *functions)
{
	struct pft_survey survey = {
		&objects, pft_selection_parse(functions, &arena), &settings, &arena, {NULL, false}};

	fixture_open(library);
	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
	cr_assert_eq(pft_targets_choose(&survey, object_named(library), &targets), 0);
}

static const struct pft_target *target_of(const char *symbol)
{
	for (size_t i = 0; i < targets.count; i++)
		if (!strcmp(targets.all[i].slot.symbol, symbol))
			return &targets.all[i];
	return NULL;
}

Test(targets, are_what_is_selected)
{
	choose("libfixture_lazy.so", "getppid");
	cr_assert_eq(targets.count, 1);
	cr_assert_str_eq(targets.all[0].slot.symbol, "getppid");
	cr_assert_eq(targets.all[0].callee, object_named("libc.so.6"));
	cr_assert_null(targets.all[0].stub);
}

Test(targets, are_in_dev_mode_what_crosses_to_another_object)
{
	settings.mode = PFT_MODE_DEV;
	choose("libfixture_lazy.so", "-__cxa_finalize");
	cr_assert_not_null(target_of("getppid"));
	cr_assert_null(target_of("abs"), "it is short and pure");
	cr_assert_null(target_of("fixture_lazy_own"));
	cr_assert_null(target_of("__cxa_finalize"));
}

Test(targets, with_a_taken_address_are_diverted_at_the_stub)
{
	const struct pft_target *target;

	choose("libfixture_taken.so", "getppid");
	cr_assert_eq(targets.count, 1);
	target = target_of("getppid");
	cr_assert(target->slot.data);
	cr_assert_not_null(target->stub);
	cr_assert_eq(target->stub[-1], 0x25, "jmp *slot(%%rip)");
}

Test(targets, that_are_only_called_are_diverted_at_the_slot)
{
	const struct pft_target *target;

	choose("libfixture_noplt.so", "getppid");
	cr_assert_eq(targets.count, 1);
	target = target_of("getppid");
	cr_assert(target->slot.data);
	cr_assert_null(target->stub);
}

static const char *said(const char *library, const char *functions)
{
	captured_start();
	choose(library, functions);
	return captured_stop();
}

Test(targets, that_need_an_entry_hook_are_left_alone_and_said_where_they_are_named)
{
	cr_assert_str_eq(said("libfixture_noplt.so", "abs"),
		"pftshim: left alone: calls of abs from libfixture_noplt.so: its address is taken there, so "
		"they need an entry hook\n");
	cr_assert_eq(targets.count, 0);
	cr_assert_str_eq(said("libfixture_noplt.so", "ab*"), "");
	cr_assert_eq(targets.count, 0);
}
