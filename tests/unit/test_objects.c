// SPDX-License-Identifier: MIT
// The object reader against the loader's own answers, in this program and in small fixture libraries.
#define _GNU_SOURCE
#include "shim/objects.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tests/unit/fixtures/open.h"

static struct pft_arena arena;
static struct pft_objects objects;

static void scan(void)
{
	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
}

static void *open_fixture(const char *name)
{
	void *handle = fixture_open(name);

	scan();
	return handle;
}

static const struct pft_object *object_named(const char *name)
{
	for (size_t i = 0; i < objects.count; i++)
		if (!strcmp(objects.all[i].name, name))
			return &objects.all[i];
	cr_assert_fail("%s is not listed", name);
	return NULL;
}

static void *address_of(const struct pft_object *object, const char *name)
{
	const Elf64_Sym *symbol = pft_object_symbol(object, name);

	return symbol ? (void *)(object->bias + symbol->st_value) : NULL;
}

Test(objects, lists_what_the_loader_lists_in_its_order)
{
	size_t count = 0;

	scan();
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next, count++)
		cr_assert_eq(objects.all[count].dynamic, map->l_ld);
	cr_assert_eq(objects.count, count);
	cr_assert_gt(count, 3);
}

Test(objects, gives_the_program_its_real_path)
{
	char path[4096] = "";

	scan();
	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	cr_assert_str_eq(objects.all[0].path, path);
	cr_assert_str_eq(objects.all[0].name, strrchr(path, '/') + 1);
	cr_assert(objects.all[0].program);
}

Test(objects, knows_the_loader_the_vdso_and_itself)
{
	size_t loaders = 0, vdsos = 0;

	scan();
	for (size_t i = 0; i < objects.count; i++) {
		loaders += objects.all[i].loader;
		vdsos += objects.all[i].vdso;
		cr_assert_eq(objects.all[i].self, i == 0);
	}
	cr_assert_eq(loaders, 1);
	cr_assert(object_named("ld-linux-x86-64.so.2")->loader);
	cr_assert_eq(vdsos, getauxval(AT_SYSINFO_EHDR) != 0);
}

Test(objects, reads_the_vdso_whose_tables_are_not_relocated)
{
	const struct pft_object *vdso;

	scan();
	vdso = pft_objects_at(&objects, getauxval(AT_SYSINFO_EHDR));
	if (!vdso)
		cr_skip("the kernel gives no vDSO");
	cr_assert(vdso->vdso);
	cr_assert_null(vdso->jump_entry);
	cr_assert_not_null(pft_object_symbol(vdso, "__vdso_clock_gettime"));
	cr_assert_neq(pft_objects_defining(&objects, "__vdso_clock_gettime"), vdso);
}

Test(objects, finds_the_object_of_an_address)
{
	int on_stack;

	scan();
	cr_assert_eq(pft_objects_at(&objects, (uintptr_t)&pft_objects_scan), &objects.all[0]);
	cr_assert_eq(pft_objects_at(&objects, (uintptr_t)&arena), &objects.all[0]);
	cr_assert_eq(pft_objects_at(&objects, (uintptr_t)dlsym(RTLD_DEFAULT, "getppid")),
		object_named("libc.so.6"));
	cr_assert_null(pft_objects_at(&objects, (uintptr_t)&on_stack));
}

Test(objects, finds_symbols_where_the_loader_finds_them)
{
	static const char *const names[] = {
		"getppid", "lfind", "timezone", "pthread_cond_signal", "getopt_long"};
	const struct pft_object *libc;

	scan();
	libc = object_named("libc.so.6");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		cr_assert_eq(address_of(libc, names[i]),
			dlsym(dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY), names[i]), "%s", names[i]);
		cr_assert_eq(pft_objects_defining(&objects, names[i]), libc, "%s", names[i]);
	}
}

Test(objects, finds_no_symbol_that_is_only_asked_for)
{
	scan();
	cr_assert_null(pft_object_symbol(object_named("libc.so.6"), "no_such_function"));
	cr_assert_null(pft_object_symbol(object_named("libc.so.6"), "_dl_argv"));
	cr_assert_not_null(pft_object_symbol(object_named("ld-linux-x86-64.so.2"), "_dl_argv"));
	cr_assert_null(pft_objects_defining(&objects, "no_such_function"));
}

Test(objects, takes_the_default_of_several_versions)
{
	void *handle = open_fixture("libfixture_versions.so");
	const struct pft_object *object = object_named("libfixture_versions.so");
	const Elf64_Sym *symbol = pft_object_symbol(object, "fixture_versioned");

	cr_assert_eq(
		address_of(object, "fixture_versioned"), dlvsym(handle, "fixture_versioned", "FIXTURE_2"));
	cr_assert_str_eq(pft_object_version(object, (size_t)(symbol - object->symbols)), "FIXTURE_2");
	cr_assert_null(pft_object_version(object, 0));
}

Test(objects, finds_symbols_by_the_old_hash_table)
{
	void *handle = open_fixture("libfixture_sysv.so");
	const struct pft_object *object = object_named("libfixture_sysv.so");

	cr_assert_null(object->gnu_hash);
	cr_assert_eq(address_of(object, "fixture_sysv_function"), dlsym(handle, "fixture_sysv_function"));
	cr_assert_eq(address_of(object, "fixture_sysv_variable"), dlsym(handle, "fixture_sysv_variable"));
	cr_assert_null(pft_object_symbol(object, "fixture_sysv_nothing"));
}

Test(objects, names_the_function_that_covers_an_address)
{
	uintptr_t function = (uintptr_t)dlsym(open_fixture("libfixture_sysv.so"), "fixture_sysv_function");
	const struct pft_object *object = object_named("libfixture_sysv.so");

	cr_assert_str_eq(pft_object_function_at(object, function), "fixture_sysv_function");
	cr_assert_str_eq(pft_object_function_at(object, function + 1), "fixture_sysv_function");
	cr_assert_null(pft_object_function_at(object, object->low));
}

Test(objects, names_the_last_function_of_a_gnu_hash_table)
{
	void *handle = open_fixture("libfixture_lazy.so");
	const struct pft_object *object = object_named("libfixture_lazy.so");
	static const char *const names[] = {"fixture_lazy_own", "fixture_lazy_call_own",
		"fixture_lazy_parent", "fixture_lazy_absolute", "fixture_lazy_call_nobody"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		cr_assert_str_eq(
			pft_object_function_at(object, (uintptr_t)dlsym(handle, names[i])), names[i]);
}

Test(objects, reads_an_image_that_is_not_linked_at_zero)
{
	void *handle = open_fixture("libfixture_based.so");
	const struct pft_object *object = object_named("libfixture_based.so");

	cr_assert_neq(object->low, object->bias);
	cr_assert_gt(object->jump_count, 0);
	cr_assert_eq(address_of(object, "fixture_based_own"), dlsym(handle, "fixture_based_own"));
	cr_assert_eq(pft_objects_at(&objects, (uintptr_t)dlsym(handle, "fixture_based_own")), object);
}

// The loader has made the range read-only: /proc/self/maps says so for each page of it.
Test(objects, reckons_relro_as_the_loader_does)
{
	char line[4096], flags[5];
	uintptr_t low, high, covered = 0;
	const struct pft_object *libc;
	FILE *maps = fopen("/proc/self/maps", "r");

	scan();
	libc = object_named("libc.so.6");
	cr_assert_lt(libc->relro, libc->relro_end);
	while (fgets(line, sizeof(line), maps)) {
		cr_assert_eq(sscanf(line, "%lx-%lx %4s", &low, &high, flags), 3);
		if (low >= libc->relro_end || high <= libc->relro)
			continue;
		cr_assert_eq(flags[1], '-');
		covered += high - low;
	}
	fclose(maps);
	cr_assert_eq(covered, libc->relro_end - libc->relro);
}

Test(objects, knows_who_has_bound_all_slots)
{
	char *const hurried[] = {"LD_BIND_NOW=1", NULL}, *const not_set[] = {"LD_BIND_NOW=", NULL};

	open_fixture("libfixture_lazy.so");
	open_fixture("libfixture_now.so");
	cr_assert(object_named("libfixture_now.so")->bind_now);
	cr_assert_eq(pft_objects_scan(&objects, &arena, not_set), 0);
	cr_assert_not(object_named("libfixture_lazy.so")->bind_now);
	cr_assert_eq(pft_objects_scan(&objects, &arena, hurried), 0);
	cr_assert(object_named("libfixture_lazy.so")->bind_now);
}
