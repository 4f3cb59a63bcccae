// SPDX-License-Identifier: MIT
// What a tree of processes calls its execution when none of it has done so. Run by Criterion.
#include "shim/family.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "encoder/base/text.h"
#include "shim/place.h"

// No process was started with that.
static char preload[] = "LD_PRELOAD=/nowhere/of-this-test.so";
static char *environment[] = {preload, NULL};

Test(family, has_no_name_without_a_preload)
{
	char *none[] = {NULL}, name[128];

	cr_assert_not(pft_family_execution(name, sizeof(name), none));
}

Test(family, is_named_after_its_topmost_process)
{
	char name[128], again[128], pid[32];

	cr_assert(pft_family_execution(name, sizeof(name), environment));
	cr_assert(pft_family_execution(again, sizeof(again), environment));
	cr_assert_str_eq(name, again);
	snprintf(pid, sizeof(pid), "-%d-", getpid());
	cr_assert_not_null(strstr(name, pid), "%s is not in %s", pid, name);
}

Test(family, ends_at_an_ancestor_with_another_preload)
{
	char ours[128], theirs[128];
	int status = 0;
	pid_t child;

	cr_assert(pft_family_execution(ours, sizeof(ours), environment));
	child = fork();
	if (child == 0)
		_exit(pft_family_execution(theirs, sizeof(theirs), environment) && strcmp(ours, theirs) != 0
				? 7
				: 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(WEXITSTATUS(status), 7);
}

Test(family, is_called_as_executions_are)
{
	char name[128];
	struct pft_text text = pft_text_in(name, sizeof(name));

	pft_place_add_execution(&text, 1000000000, 42, 0x2a);
	cr_assert_str_eq(name, "20010909-014640-42-2a");
}
