// SPDX-License-Identifier: MIT
// Fixture libraries are opened, looked at, closed and opened again: which of their slots lead to hooks, and
// which ids these have.
#define _GNU_SOURCE
#include "shim/opened.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "shim/hooks.h"
#include "shim/hot/self.h"
#include "shim/hot/trampoline.h"
#include "shim/slots.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/fixtures/open.h"

#define LAZY "libfixture_lazy.so"
#define NOW "libfixture_now.so"

static struct pft_arena arena;
static struct pft_objects objects;
static struct pft_settings settings;

static void start(char *functions)
{
	settings = (struct pft_settings){.mode = PFT_MODE_USER, .functions = functions};
	pft_session = pft_fake_session(65536, 4);
	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
	cr_assert_eq(pft_hooks_install(pft_session, &objects, pft_selection_parse(functions, &arena),
			     &settings, &arena),
		0);
	pft_opened_start(&objects);
}

// Diverted calls go straight to their function while nothing is recorded.
static void look(void)
{
	pft_process.recording = PFT_RECORDING_ON;
	pft_opened_look();
	pft_process.recording = PFT_RECORDING_STOPPED;
}

static void initialise(uintptr_t address)
{
	pft_process.recording = PFT_RECORDING_ON;
	pft_opened_initialise(address);
	pft_process.recording = PFT_RECORDING_STOPPED;
}

// A slot that was lazy is not read any more: the loader was given the hook's cell for it.
static uint32_t hook_at(uintptr_t slot)
{
	uintptr_t cell = slot - (uintptr_t)pft_originals;

	if (cell < sizeof(pft_originals))
		return (uint32_t)(cell / sizeof(*pft_originals));
	return pft_thunk_id(*(void **)slot);
}

// The first hook in an object that is open.
static uint32_t hook_in(void *library)
{
	struct pft_object object;
	uint32_t id = PFT_HOOK_NONE;

	pft_object_read(&object, library, false);
	for (size_t i = 0; i < object.jump_count && id == PFT_HOOK_NONE; i++)
		id = hook_at(object.bias + object.jumps[i].r_offset);
	return id;
}

static const char *name_of(uint32_t id)
{
	return pft_session_string(pft_session, pft_session_hook(pft_session, id)->symbol);
}

static int call(void *library, const char *function, int argument)
{
	return ((int (*)(int))dlsym(library, function))(argument);
}

Test(opened, objects_are_diverted_once)
{
	void *library;
	uint32_t id, hooks;

	start("abs");
	library = fixture_open(LAZY);
	cr_assert_eq(hook_in(library), PFT_HOOK_NONE);
	look();
	id = hook_in(library);
	cr_assert_str_eq(name_of(id), "abs");
	hooks = pft_session->hooks;
	look();
	pft_opened_doubt();
	look();
	cr_assert_eq(hook_in(library), id);
	cr_assert_eq(pft_session->hooks, hooks);
	cr_assert_eq(call(library, "fixture_lazy_absolute", -3), 3);
}

Test(opened, objects_are_left_alone_while_nothing_is_recorded)
{
	void *library;

	start("abs");
	library = fixture_open(LAZY);
	pft_process.recording = PFT_RECORDING_STOPPED;
	pft_opened_look();
	cr_assert_eq(hook_in(library), PFT_HOOK_NONE);
}

Test(opened, objects_that_come_again_have_the_same_ids)
{
	uint32_t id, hooks;

	start("abs,getppid");
	for (int i = 0; i < 10; i++) {
		void *library = fixture_open(LAZY);

		look();
		if (i == 0) {
			id = hook_in(library);
			hooks = pft_session->hooks;
		}
		cr_assert_eq(hook_in(library), id);
		cr_assert_eq(pft_session->hooks, hooks);
		cr_assert_eq(call(library, "fixture_lazy_absolute", -i), i);
		cr_assert_eq(call(library, "fixture_lazy_parent", 0), getppid());
		dlclose(library);
		pft_opened_doubt();
	}
}

Test(opened, objects_do_not_share_ids_while_both_are_open)
{
	void *first, *second;
	uint32_t id;

	start("abs");
	first = fixture_open(LAZY);
	look();
	id = hook_in(first);
	second = fixture_open(NOW);
	look();
	cr_assert_neq(hook_in(second), id);
	cr_assert_str_eq(name_of(hook_in(second)), "abs");
	dlclose(first);
	look();
	first = fixture_open(LAZY);
	look();
	cr_assert_eq(hook_in(first), id);
	cr_assert_eq(call(first, "fixture_lazy_absolute", -3), 3);
	cr_assert_eq(call(second, "fixture_now_absolute", -4), 4);
}

Test(opened, objects_with_other_names_have_ids_of_their_own)
{
	void *library;
	uint32_t id;

	start("abs,fixture_now_own");
	library = fixture_open(LAZY);
	look();
	id = hook_in(library);
	dlclose(library);
	pft_opened_doubt();
	library = fixture_open(NOW);
	look();
	cr_assert_gt(hook_in(library), id);
}

Test(opened, objects_are_told_apart_though_they_have_one_place_and_no_hooks)
{
	void *library;

	start("fixture_now_own");
	library = fixture_open(LAZY);
	look();
	cr_assert_eq(hook_in(library), PFT_HOOK_NONE);
	dlclose(library);
	pft_opened_doubt();
	library = fixture_open(NOW);
	look();
	cr_assert_neq(hook_in(library), PFT_HOOK_NONE);
}

// Nobody was told that it was closed; but its constructors run.
Test(opened, objects_that_come_again_unnoticed_are_noticed_before_they_run)
{
	struct link_map *library;

	start("abs");
	for (int i = 0; i < 3; i++) {
		library = fixture_open(LAZY);
		initialise(library->l_addr + 0x1000);
		cr_assert_neq(hook_in(library), PFT_HOOK_NONE);
		dlclose(library);
	}
}

Test(opened, objects_whose_constructors_run_again_stay_as_they_are)
{
	struct link_map *library;
	uint32_t id, hooks;

	start("abs");
	library = fixture_open(LAZY);
	initialise(library->l_addr + 0x1000);
	id = hook_in(library);
	hooks = pft_session->hooks;
	initialise(library->l_addr + 0x1000);
	cr_assert_eq(hook_in(library), id);
	cr_assert_eq(pft_session->hooks, hooks);
	cr_assert_eq(call(library, "fixture_lazy_absolute", -3), 3);
}

static void *open_elsewhere(const char *path)
{
	void *library = dlmopen(LM_ID_NEWLM, path, RTLD_LAZY);

	cr_assert(library, "%s", dlerror());
	return library;
}

Test(opened, objects_in_other_namespaces_are_diverted)
{
	void *base, *elsewhere, *farther;

	start("abs");
	base = fixture_open(LAZY);
	elsewhere = open_elsewhere(((struct link_map *)base)->l_name);
	farther = open_elsewhere(((struct link_map *)base)->l_name);
	look();
	cr_assert_str_eq(name_of(hook_in(base)), "abs");
	cr_assert_str_eq(name_of(hook_in(elsewhere)), "abs");
	cr_assert_str_eq(name_of(hook_in(farther)), "abs");
	cr_assert_eq(call(elsewhere, "fixture_lazy_absolute", -3), 3);
	dlclose(elsewhere);
	look();
	cr_assert_eq(call(farther, "fixture_lazy_absolute", -3), 3);
}

Test(opened, objects_beyond_the_last_hook_are_left_alone)
{
	void *first, *second;
	uint32_t id;

	start("abs");
	pft_session->hooks = PFT_HOOKS_MAX - 1;
	first = fixture_open(LAZY);
	second = fixture_open(NOW);
	look();
	id = hook_in(first);
	cr_assert_eq(id, PFT_HOOKS_MAX - 1);
	cr_assert_eq(hook_in(second), PFT_HOOK_NONE);
	cr_assert_eq(call(first, "fixture_lazy_absolute", -3), 3);
	cr_assert_eq(call(second, "fixture_now_absolute", -3), 3);
	dlclose(first);
	pft_opened_doubt();
	first = fixture_open(LAZY);
	look();
	cr_assert_eq(hook_in(first), id);
}
