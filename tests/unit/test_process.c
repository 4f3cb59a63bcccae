// SPDX-License-Identifier: MIT
// The ends of a process, and what it gives up: recording ends before, or the flusher steps aside.
#define _GNU_SOURCE
#include "shim/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/hot/self.h"
#include "tests/unit/recording.h"
#include "tests/unit/seated.h"

static unsigned *ends; // shared with children

static void count_end(void)
{
	++*ends;
}

static void start(void)
{
	ends = mmap(NULL, sizeof(*ends), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	seated_session(PFT_CLOCK_TSC, 4096);
	pft_process_end = count_end;
	seated_sit();
}

static bool begin_session(void)
{
	pft_session->pid = (uint32_t)getpid();
	return true;
}

// In a child that records; its status.
static int status_of(void (*run)(void))
{
	int status = 0;
	pid_t child;

	pft_forked = begin_session;
	child = fork();
	if (child == 0) {
		run();
		syscall(SYS_kill, getpid(), 9);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

// ---- ends -------------------------------------------------------------------------------------------

static void by_exit(void)
{
	_exit(7);
}

static void by_other_exit(void)
{
	_Exit(7);
}

static void by_number(void)
{
	syscall(SYS_exit_group, 7);
}

Test(process, ends_recording_before_it_exits)
{
	start();
	cr_assert_eq(WEXITSTATUS(status_of(by_exit)), 7);
	cr_assert_eq(*ends, 1);
	cr_assert_eq(WEXITSTATUS(status_of(by_other_exit)), 7);
	cr_assert_eq(*ends, 2);
	cr_assert_eq(WEXITSTATUS(status_of(by_number)), 7);
	cr_assert_eq(*ends, 3);
}

// It runs in its parent's memory, so the parent's recording must go on.
static void be_a_child_of_vfork(void)
{
	pft_session->pid++;
	_exit(7);
}

Test(process, that_was_made_by_vfork_ends_nothing)
{
	start();
	cr_assert_eq(WEXITSTATUS(status_of(be_a_child_of_vfork)), 7);
	cr_assert_eq(*ends, 0);
}

static void stop_and_exit(void)
{
	pft_recording_stop();
	_exit(7);
}

Test(process, whose_recording_is_over_just_exits)
{
	start();
	cr_assert_eq(WEXITSTATUS(status_of(stop_and_exit)), 7);
	cr_assert_eq(*ends, 0);
}

// ---- system calls -----------------------------------------------------------------------------------

static void by_prctl(void)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

static void by_prctl_number(void)
{
	syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

static void by_seccomp(void)
{
	syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
}

static void by_counter(void)
{
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

Test(process, ends_recording_before_it_gives_up_system_calls)
{
	void (*const ways[])(void) = {by_prctl, by_prctl_number, by_seccomp, by_counter};

	start();
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		status_of(ways[i]);
		cr_assert_eq(*ends, i + 1);
	}
}

Test(process, makes_other_calls_with_all_their_arguments)
{
	char name[16] = "";
	void *at;

	start();
	cr_assert_eq(prctl(PR_SET_NAME, "argument"), 0);
	cr_assert_eq(prctl(PR_GET_NAME, name), 0);
	cr_assert_str_eq(name, "argument");
	at = (void *)syscall(
		SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(at, MAP_FAILED);
	memset(at, 1, 4096);
	errno = 0;
	cr_assert_eq(syscall(SYS_close, -1), -1);
	cr_assert_eq(errno, EBADF);
	errno = 0;
	cr_assert_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 1), -1, "the last must be zero");
	cr_assert_eq(errno, EINVAL);
	errno = 0;
	cr_assert_eq(prctl(-1), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(*ends, 0);
}

// It returns twice, so nothing of ours may stand on the stack.
Test(process, may_fork_by_number)
{
	int status = 0;
	long child;

	start();
	pft_forked = begin_session;
	child = syscall(SYS_fork);
	if (child == 0)
		syscall(SYS_exit, 5);
	waitpid((pid_t)child, &status, 0);
	cr_assert_eq(WEXITSTATUS(status), 5);
}

// ---- namespaces -------------------------------------------------------------------------------------

static struct pft_totals totals;

Test(process, says_why_it_could_not_change_its_namespace, .fini = recording_clean)
{
	recording_make();
	recording_start();
	errno = 0;
	cr_assert_eq(setns(-1, 0), -1);
	cr_assert_eq(errno, EBADF);
	errno = 0;
	cr_assert_eq(unshare(0x1), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(recording_finish(&totals), 0);
}
