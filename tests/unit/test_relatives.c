// SPDX-License-Identifier: MIT
// Who a process comes from: what it finds out from the sessions of others.
#include "shim/relatives.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/hot/self.h"
#include "shim/store.h"
#include "tests/unit/recording.h"

static void forget_others(void)
{
	char path[64];

	for (unsigned number = 0; number < 4; number++) {
		pft_relatives_name(path, sizeof(path), (uint32_t)getpid(), number);
		unlink(path);
	}
}

TestSuite(relatives, .init = forget_others, .fini = recording_clean);

static struct pft_relative parent, before;

// What the check says of the child that it runs in.
static bool in_child(bool (*check)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(check() ? 0 : 1);
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status == 0;
}

static bool find_parent(void)
{
	return pft_relatives_parent(&parent) && parent.pid == pft_session->pid &&
	       parent.real_ns == pft_session->real_ns && strcmp(parent.process, "program") == 0 &&
	       strcmp(parent.execution, "of-the-parent") == 0;
}

static bool find_grandparent(void)
{
	return in_child(find_parent);
}

Test(relatives, are_the_parent_and_its_execution)
{
	recording_settings.execution = "of-the-parent";
	recording_make();
	cr_assert(in_child(find_parent));
}

Test(relatives, are_found_behind_a_parent_that_does_not_record)
{
	recording_settings.execution = "of-the-parent";
	recording_make();
	cr_assert(in_child(find_grandparent));
}

static bool find_nobody(void)
{
	parent.real_ns = 1;
	return !pft_relatives_parent(&parent) && !parent.real_ns && !parent.execution[0];
}

Test(relatives, are_nobody_where_no_ancestor_records)
{
	cr_assert(in_child(find_nobody));
}

// It says that it was made before this process began.
Test(relatives, are_not_those_of_an_earlier_process_of_the_parents_pid)
{
	recording_make();
	pft_session->boot_ns = 1;
	cr_assert(in_child(find_nobody));
}

static void be_before_exec(void)
{
	recording_settings.execution = "before";
	recording_make();
	pft_session->outer_pid = 42;
	pft_session->parent = (struct pft_relative){.real_ns = 4711, .pid = 815};
	pft_store_finish(&recording_place, true);
}

Test(relatives, are_what_this_process_was_before_exec)
{
	be_before_exec();
	cr_assert(pft_relatives_before(&before, &parent));
	cr_assert_eq(before.pid, (uint32_t)getpid());
	cr_assert_eq(before.real_ns, pft_session->real_ns);
	cr_assert_str_eq(before.process, "program");
	cr_assert_str_eq(before.execution, "before");
	cr_assert_eq(parent.real_ns, 4711, "and its parent is the same");
	cr_assert_eq(parent.pid, 815);
	cr_assert_not(pft_relatives_before(&before, &parent), "it has been taken");
	cr_assert_neq(access(recording_place.session_link, F_OK), 0);
}

Test(relatives, stand_in_the_session_that_comes_after_exec)
{
	be_before_exec();
	recording_make();
	cr_assert_str_eq(pft_session->before.process, "program");
	cr_assert_eq(pft_session->parent.pid, 815);
	cr_assert_eq(pft_session->outer_pid, 42);
}

static bool is_first_in_its_namespace(void)
{
	uint32_t outer = pft_relatives_outer_pid();
	char self[32] = "";

	cr_assert_gt(readlink("/proc/self", self, sizeof(self) - 1), 0);
	return getpid() == 1 && outer != 1 && outer == (uint32_t)atoi(self);
}

Test(relatives, know_the_pid_outside_of_a_namespace)
{
	cr_assert_eq(pft_relatives_outer_pid(), 0);
	if (unshare(CLONE_NEWPID) != 0)
		cr_skip_test("may not make a namespace");
	cr_assert(in_child(is_first_in_its_namespace));
}
