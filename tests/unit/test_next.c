// SPDX-License-Identifier: MIT
// The next definitions of what we interpose are those that the loader would give.
#define _GNU_SOURCE
#include "shim/next.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <unistd.h>

#define CHECK(name) cr_assert_eq(pft_next(PFT_NEXT_##name), dlsym(RTLD_NEXT, #name), #name);

Test(next, definitions_are_those_behind_us_in_the_loaders_list)
{
	PFT_INTERPOSED(CHECK)
	cr_assert_not_null(pft_next(PFT_NEXT_fork));
	cr_assert_neq(pft_next(PFT_NEXT_fork), (void *)fork, "that is ours");
}

Test(next, definitions_are_found_at_startup_without_asking_the_loader_again)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_objects objects;

	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
	pft_next_start(&objects);
	PFT_INTERPOSED(CHECK)
}

// Somebody may call before our startup, or the list may have been short.
Test(next, definitions_are_looked_up_again_when_there_were_none)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_objects objects;
	size_t own = 0;

	cr_assert_eq(pft_objects_scan(&objects, &arena, environ), 0);
	while (!objects.all[own].self)
		own++;
	objects.count = own + 1;
	pft_next_start(&objects);
	PFT_INTERPOSED(CHECK)
}
