// SPDX-License-Identifier: MIT
// Slots of two fixture libraries, one lazy and one bound and read-only, are diverted and called through.
#define _GNU_SOURCE
#include "shim/slots.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fixtures/open.h"

#define LAZY "libfixture_lazy.so"
#define NOW "libfixture_now.so"

static struct pft_arena arena;
static struct pft_objects objects;
static void *library;
static const struct pft_object *object;

static void *parent_cell, *absolute_cell, *own_cell;
static int calls;

static int counted_parent(void)
{
	calls++;
	return ((int (*)(void))parent_cell)();
}

static int counted_absolute(int c)
{
	calls++;
	return ((int (*)(int))absolute_cell)(c);
}

static int counted_own(int number)
{
	calls++;
	return ((int (*)(int))own_cell)(number);
}

static void scan(const char *name)
{
	object = NULL;
	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
	for (size_t i = 0; i < objects.count; i++)
		if (!strcmp(objects.all[i].name, name))
			object = &objects.all[i];
	cr_assert_not_null(object);
}

static void open_library(const char *name)
{
	unsetenv("LD_BIND_NOW");
	library = fixture_open(name);
	scan(name);
}

static int call(const char *function, int argument)
{
	int (*pointer)(int) = (int (*)(int))dlsym(library, function);

	cr_assert_not_null(pointer);
	return pointer(argument);
}

struct wanted {
	const char *symbol;
	struct pft_slot slot;
	int found;
};

static int keep_wanted(void *context, const struct pft_slot *slot)
{
	struct wanted *wanted = context;

	if (!strcmp(slot->symbol, wanted->symbol)) {
		wanted->slot = *slot;
		wanted->found++;
	}
	return 0;
}

static int find_slot(const char *symbol, struct pft_slot *slot)
{
	struct wanted wanted = {.symbol = symbol};

	cr_assert_eq(pft_slots_each(object, keep_wanted, &wanted), 0);
	*slot = wanted.slot;
	return wanted.found;
}

static struct pft_slot slot_of(const char *symbol)
{
	struct pft_slot slot;

	cr_assert_eq(find_slot(symbol, &slot), 1, "%s", symbol);
	return slot;
}

static void divert(struct pft_slot_plan *plans, size_t count)
{
	struct pft_slots_change change = {.object = object, .plans = plans, .count = count};

	cr_assert_eq(pft_slots_prepare(&change), 0);
	pft_slots_commit(&change);
}

static bool is_writable(const void *address)
{
	char line[4096], flags[5] = "";
	uintptr_t low = 0, high = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	do {
		cr_assert_not_null(fgets(line, sizeof(line), maps));
		cr_assert_eq(sscanf(line, "%lx-%lx %4s", &low, &high, flags), 3);
	} while ((uintptr_t)address < low || (uintptr_t)address >= high);
	fclose(maps);
	return flags[1] == 'w';
}

Test(slots, name_the_function_and_its_version)
{
	struct pft_slot slot;

	open_library(LAZY);
	slot = slot_of("getppid");
	cr_assert_str_eq(slot.version, "GLIBC_2.2.5");
	cr_assert_eq(object->bias + object->jumps[slot.index].r_offset, (uintptr_t)slot.address);
	cr_assert_null(slot_of("fixture_lazy_own").version);
}

Test(slots, are_lazy_until_the_first_call)
{
	struct pft_slot slot;

	open_library(LAZY);
	slot = slot_of("getppid");
	cr_assert(slot.lazy);
	cr_assert_eq(pft_objects_at(&objects, (uintptr_t)slot.value), object);
	cr_assert(slot_of("fixture_lazy_own").lazy);
	call("fixture_lazy_parent", 0);
	call("fixture_lazy_call_own", 1);
	slot = slot_of("getppid");
	cr_assert_not(slot.lazy);
	cr_assert_eq(slot.value, dlsym(RTLD_DEFAULT, "getppid"));
	cr_assert_not(slot_of("fixture_lazy_own").lazy);
}

Test(slots, are_bound_from_the_start_with_bind_now)
{
	struct pft_slot slot;

	open_library(NOW);
	slot = slot_of("fixture_now_own");
	cr_assert_not(slot.lazy);
	cr_assert_eq(slot.value, dlsym(library, "fixture_now_own"));
	cr_assert_not(slot_of("abs").lazy);
}

Test(slots, that_nobody_fills_are_passed_over)
{
	struct pft_slot slot;

	open_library(NOW);
	cr_assert_eq(find_slot("nobody_defines_this", &slot), 0);
}

Test(slots, that_code_may_read_are_marked_as_data)
{
	struct pft_slot slot;

	open_library("libfixture_taken.so");
	slot = slot_of("getppid");
	cr_assert(slot.data);
	cr_assert_not(slot.lazy);
	cr_assert_eq(slot.value, dlsym(RTLD_DEFAULT, "getppid"));
	cr_assert_str_eq(slot.version, "GLIBC_2.2.5");
	cr_assert_eq(object->bias + object->relocations[slot.index].r_offset, (uintptr_t)slot.address);
	cr_assert_eq(find_slot("environ", &slot), 0, "a variable is no function");
	cr_assert_eq(find_slot("nobody_defines_this", &slot), 0);
}

static int count_visits(void *context, const struct pft_slot *slot)
{
	(void)slot;
	++*(size_t *)context;
	return 0;
}

Test(slots, are_no_more_than_is_told_before)
{
	static const char *const names[] = {LAZY, NOW, "libfixture_taken.so"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t visits = 0;

		open_library(names[i]);
		pft_slots_each(object, count_visits, &visits);
		cr_assert_gt(visits, 0);
		cr_assert_leq(visits, pft_slots_count(object));
	}
}

static int stop_at_first(void *context, const struct pft_slot *slot)
{
	(void)slot;
	++*(int *)context;
	return -EINTR;
}

Test(slots, visiting_stops_when_the_visitor_says_so)
{
	int visits = 0;

	open_library(LAZY);
	cr_assert_eq(pft_slots_each(object, stop_at_first, &visits), -EINTR);
	cr_assert_eq(visits, 1);
}

Test(slots, that_are_lazy_resolve_into_the_cell_and_keep_the_thunk)
{
	struct pft_slot slot;

	open_library(LAZY);
	slot = slot_of("getppid");
	divert((struct pft_slot_plan[]){{slot, counted_parent, &parent_cell}}, 1);
	cr_assert_eq(parent_cell, slot.value);
	for (int i = 1; i <= 3; i++) {
		cr_assert_eq(call("fixture_lazy_parent", 0), getppid());
		cr_assert_eq(calls, i);
		cr_assert_eq(parent_cell, dlsym(RTLD_DEFAULT, "getppid"));
		cr_assert_eq(*slot.address, (void *)counted_parent);
	}
}

Test(slots, beside_a_diverted_one_resolve_as_ever)
{
	struct pft_slot absolute;

	open_library(LAZY);
	absolute = slot_of("abs");
	divert((struct pft_slot_plan[]){{slot_of("getppid"), counted_parent, &parent_cell}}, 1);
	cr_assert_eq(call("fixture_lazy_absolute", -7), 7);
	cr_assert_eq(*absolute.address, dlsym(RTLD_DEFAULT, "abs"));
	cr_assert_eq(calls, 0);
}

Test(slots, bound_and_lazy_ones_are_diverted_in_one_change)
{
	open_library(LAZY);
	call("fixture_lazy_absolute", -7);
	divert((struct pft_slot_plan[]){{slot_of("abs"), counted_absolute, &absolute_cell},
		       {slot_of("getppid"), counted_parent, &parent_cell},
		       {slot_of("fixture_lazy_own"), counted_own, &own_cell}},
		3);
	cr_assert_eq(call("fixture_lazy_absolute", -7), 7);
	cr_assert_eq(call("fixture_lazy_parent", 0), getppid());
	cr_assert_eq(call("fixture_lazy_call_own", 20), 41);
	cr_assert_eq(calls, 3);
}

Test(slots, can_be_diverted_in_a_second_change)
{
	struct pft_slot slot;

	open_library(LAZY);
	divert((struct pft_slot_plan[]){{slot_of("getppid"), counted_parent, &parent_cell}}, 1);
	scan(LAZY);
	cr_assert_eq(find_slot("getppid", &slot), 0, "its entry leads to a cell already");
	divert((struct pft_slot_plan[]){{slot_of("abs"), counted_absolute, &absolute_cell}}, 1);
	cr_assert_eq(call("fixture_lazy_absolute", -7), 7);
	cr_assert_eq(call("fixture_lazy_parent", 0), getppid());
	cr_assert_eq(calls, 2);
}

Test(slots, in_relro_are_diverted_and_read_only_again)
{
	struct pft_slot slot;

	open_library(NOW);
	slot = slot_of("abs");
	cr_assert_not(is_writable(slot.address));
	divert((struct pft_slot_plan[]){{slot, counted_absolute, &absolute_cell}}, 1);
	cr_assert_not(is_writable(slot.address));
	cr_assert_eq(call("fixture_now_absolute", -7), 7);
	cr_assert_eq(calls, 1);
}

Test(slots, outside_of_relro_stay_writable_and_the_dynamic_section_read_only)
{
	struct pft_slot slot;

	open_library(LAZY);
	slot = slot_of("getppid");
	cr_assert_not(is_writable(object->jump_entry));
	divert((struct pft_slot_plan[]){{slot, counted_parent, &parent_cell}}, 1);
	cr_assert(is_writable(slot.address));
	cr_assert_not(is_writable(object->jump_entry));
}

// ---- a PLT like mold's ----

// Its head, where an unresolved slot leads with the index in r11. Words 1 and 2 of the table that DT_PLTGOT
// names are the loader's (psABI 5.2).
extern char indexed_head[] __attribute__((visibility("hidden")));
void *indexed_map __attribute__((visibility("hidden")));
void *indexed_resolver __attribute__((visibility("hidden")));
__asm__(".hidden indexed_head\n"
	"indexed_head:\n"
	"	endbr64\n"
	"	push	%r11\n"
	"	push	indexed_map(%rip)\n"
	"	jmp	*indexed_resolver(%rip)\n");

static void set_up_head(void)
{
	const Elf64_Dyn *entry = object->dynamic;
	void **table;

	while (entry->d_tag != DT_PLTGOT)
		entry++;
	table = (void **)entry->d_un.d_ptr;
	indexed_map = table[1];
	indexed_resolver = table[2];
}

static int clobbering_parent(void)
{
	calls++;
	__asm__ volatile("xor %%r11d, %%r11d" ::: "r11");
	return ((int (*)(void))parent_cell)();
}

Test(slots, of_a_plt_that_hands_its_index_over_in_r11_are_resolved_all_the_same)
{
	struct pft_object everywhere;
	struct pft_slot slot;

	open_library(LAZY);
	set_up_head();
	everywhere = *object;
	everywhere.low = 0;
	everywhere.high = UINTPTR_MAX;
	object = &everywhere;
	cr_assert_not(slot_of("getppid").wants_index);
	*slot_of("getppid").address = indexed_head;
	slot = slot_of("getppid");
	cr_assert(slot.lazy);
	cr_assert(slot.wants_index);
	divert((struct pft_slot_plan[]){{slot, clobbering_parent, &parent_cell}}, 1);
	for (int i = 1; i <= 3; i++) {
		cr_assert_eq(call("fixture_lazy_parent", 0), getppid());
		cr_assert_eq(calls, i);
		cr_assert_eq(parent_cell, dlsym(RTLD_DEFAULT, "getppid"));
		cr_assert_eq(*slot.address, (void *)clobbering_parent);
	}
}

// ---- what cannot be done ----

Test(slots, of_an_object_with_a_read_only_dynamic_section_are_left_alone_while_lazy)
{
	struct pft_object changed;
	struct pft_slot_plan plan = {.thunk = counted_parent, .cell = &parent_cell};
	struct pft_slots_change change = {.object = &changed, .plans = &plan, .count = 1};

	open_library(LAZY);
	plan.slot = slot_of("getppid");
	changed = *object;
	changed.jump_entry = NULL;
	cr_assert_eq(pft_slots_prepare(&change), -ENOTSUP);
	cr_assert_null(change.kept.jumps);
	cr_assert_eq(*plan.slot.address, plan.slot.value);
}
