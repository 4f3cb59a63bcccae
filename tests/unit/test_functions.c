// SPDX-License-Identifier: MIT
// Unit tests of encoder/functions.c: names out of the files that this very program is made of, and of what is
// no such file. Run by Criterion.
#include "encoder/functions.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pft_arena arena;

// As the file counts them.
static uint64_t address_in_file(const void *address, const char **path)
{
	struct link_map *map;
	Dl_info about;

	cr_assert(dladdr1(address, &about, (void **)&map, RTLD_DL_LINKMAP));
	*path = *map->l_name ? map->l_name : "/proc/self/exe";
	return (uintptr_t)address - map->l_addr;
}

static __attribute__((noinline)) int a_static_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

Test(functions, have_the_names_of_the_symbol_table)
{
	int (*volatile function)(int) = a_static_function;
	const char *path;
	uint64_t address = address_in_file((void *)function, &path);
	struct pft_functions *functions = pft_functions_read(path, NULL, 0, &arena);
	const char *before = pft_functions_name(functions, address - 1, &arena);

	cr_assert(!before || strcmp(before, "a_static_function") != 0);
	cr_assert_str_eq(pft_functions_name(functions, address, &arena), "a_static_function");
	cr_assert_str_eq(pft_functions_name(functions, address + 1, &arena), "a_static_function");
	cr_assert_null(pft_functions_name(functions, 1, &arena));
	cr_assert_null(pft_functions_name(functions, UINT64_MAX, &arena));
}

// The C library that Debian ships has no .symtab. lsearch has one name, and no sanitizer stands before it.
Test(functions, have_the_names_that_others_see_where_there_is_nothing_else)
{
	const char *path;
	uint64_t address = address_in_file(dlsym(RTLD_DEFAULT, "lsearch"), &path);
	struct pft_functions *functions = pft_functions_read(path, NULL, 0, &arena);

	cr_assert_str_eq(pft_functions_name(functions, address + 4, &arena), "lsearch");
}

Test(functions, are_none_in_a_file_that_is_not_the_one)
{
	static const uint8_t other_id[20] = {1};
	const char *path;
	uint64_t address = address_in_file(dlsym(RTLD_DEFAULT, "lsearch"), &path);

	cr_assert_null(pft_functions_name(pft_functions_read(path, other_id, 20, &arena), address, &arena));
	cr_assert_null(pft_functions_name(pft_functions_read("/nowhere", NULL, 0, &arena), 1, &arena));
	cr_assert_null(pft_functions_name(pft_functions_read("/dev/zero", NULL, 0, &arena), 1, &arena));
	cr_assert_null(pft_functions_name(pft_functions_read("/etc/passwd", NULL, 0, &arena), 1, &arena));
}

static void build_id_of(const char *path, uint8_t id[20])
{
	char command[512], text[64] = "";
	FILE *readelf;

	snprintf(command, sizeof command, "readelf -n %s 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
	readelf = popen(command, "r");
	cr_assert_not_null(readelf);
	cr_assert_not_null(fgets(text, sizeof text, readelf));
	pclose(readelf);
	for (size_t i = 0; i < 20; i++)
		cr_assert_eq(sscanf(text + 2 * i, "%2hhx", &id[i]), 1);
}

Test(functions, belong_to_the_file_of_their_build_id)
{
	const char *path;
	uint64_t address = address_in_file(dlsym(RTLD_DEFAULT, "lsearch"), &path);
	uint8_t id[20];

	build_id_of(path, id);
	cr_assert_str_eq(
		pft_functions_name(pft_functions_read(path, id, 20, &arena), address, &arena), "lsearch");
}

static char *copy_of(const char *path)
{
	static char copy[] = "/tmp/pft.functions.XXXXXX";
	char command[512];

	close(mkstemp(copy));
	snprintf(command, sizeof command, "cp %s %s", path, copy);
	cr_assert_eq(system(command), 0);
	return copy;
}

Test(functions, are_nameless_once_their_file_has_changed)
{
	const char *path;
	uint64_t address = address_in_file(dlsym(RTLD_DEFAULT, "lsearch"), &path);
	char *copy = copy_of(path);
	struct pft_functions *functions = pft_functions_read(copy, NULL, 0, &arena);
	const char *before = pft_functions_name(functions, address, &arena);
	int cut = truncate(copy, 100000);
	const char *after = pft_functions_name(functions, address, &arena);

	unlink(copy);
	cr_assert_eq(cut, 0);
	cr_assert_str_eq(before, "lsearch");
	cr_assert_null(after);
}

// Cut in the middle of anything, it has names or has none, and nothing else happens.
Test(functions, are_read_from_a_file_of_any_length)
{
	const char *path;
	uint64_t address = address_in_file(dlsym(RTLD_DEFAULT, "lsearch"), &path);
	char *copy = copy_of(path);
	struct stat about;

	cr_assert_eq(stat(copy, &about), 0);
	for (off_t bytes = about.st_size; bytes > 0; bytes = bytes * 15 / 16) {
		cr_assert_eq(truncate(copy, bytes), 0);
		pft_functions_name(pft_functions_read(copy, NULL, 0, &arena), address, &arena);
	}
	unlink(copy);
}
