// SPDX-License-Identifier: MIT
// A library that is opened again where it was not before, and another one where it was.
// build: -D_GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

#include "tests/programs/common.h"

static void *library;

static uintptr_t open_library(const char *name)
{
	struct link_map *map;

	library = dlopen(name, RTLD_LAZY);
	MUST(library != NULL);
	MUST(dlinfo(library, RTLD_DI_LINKMAP, &map) == 0);
	return map->l_addr;
}

static int use(void)
{
	int (*work)(int) = (int (*)(int))dlsym(library, "work");
	int result = work(1) + work(2);

	MUST(dlclose(library) == 0);
	return result;
}

// Takes the place of what was closed.
static void block(uintptr_t place)
{
	void *at = mmap(
		(void *)place, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	MUST(at == (void *)place);
}

int main(int argc, char **argv)
{
	long rounds = argument(argc, argv, 1, 20), sum = 0;
	uintptr_t before = 0;

	for (long i = 0; i < rounds; i++) {
		uintptr_t place = open_library(i % 2 ? "libopened_twin_a.so" : "libopened_plugin.so");

		MUST(place != before);
		before = place;
		sum += use();
		block(place);
	}
	printf("%ld\n", sum);
	return 0;
}
