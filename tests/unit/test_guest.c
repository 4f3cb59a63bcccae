// SPDX-License-Identifier: MIT
// The bare thread: it starts and ends when it shall, and the program does not notice it.
#define _GNU_SOURCE
#include "shim/hot/guest.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/clock.h"
#include "tests/unit/seated.h"
#include "tests/unit/stepped.h"

#define LONG_NS UINT64_C(10000000000)
#define SHORT_NS UINT64_C(50000000)
#define DESCRIPTORS 1024

// What the guest finds. It makes raw system calls only.
static struct {
	unsigned runs;
	uint32_t may_end; // futex word
	uint64_t blocked;
	int open[DESCRIPTORS];
	unsigned open_count;
	uint32_t tid;
	uintptr_t frame, thread_pointer, thread_pointer_again, canary;
	int *error;
} guest;

static void look_around(void)
{
	guest.runs++;
	guest.tid = (uint32_t)pft_sys_gettid();
	guest.frame = (uintptr_t)__builtin_frame_address(0);
	__asm__("mov %%fs:0, %0" : "=r"(guest.thread_pointer));
	__asm__("mov %%fs:16, %0" : "=r"(guest.thread_pointer_again));
	__asm__("mov %%fs:40, %0" : "=r"(guest.canary));
	guest.error = &errno;
	pft_sys4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &guest.blocked, sizeof(guest.blocked));
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (pft_sys2(SYS_fcntl, fd, F_GETFD) >= 0)
			guest.open[guest.open_count++] = fd;
	pft_sys1(SYS_chdir, "/proc");
	pft_sys1(SYS_umask, 0);
}

static void wait_to_end(void)
{
	guest.runs++;
	guest.tid = (uint32_t)pft_sys_gettid();
	while (!__atomic_load_n(&guest.may_end, __ATOMIC_ACQUIRE))
		pft_sys_futex(&guest.may_end, FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void let_it_end(void)
{
	__atomic_store_n(&guest.may_end, 1, __ATOMIC_RELEASE);
	pft_sys_futex(&guest.may_end, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

static void prepare(void (*body)(void))
{
	seated_session(PFT_CLOCK_TSC, 4096);
	pft_guest_prepare(body);
}

static void run(void (*body)(void))
{
	prepare(body);
	pft_guest_want();
	cr_assert_eq(pft_guest_error(), 0);
	cr_assert(pft_guest_join(LONG_NS));
}

// ---- life -------------------------------------------------------------------------------------------

Test(guest, runs_once_it_is_wanted)
{
	prepare(look_around);
	cr_assert_eq(guest.runs, 0);
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 1);
	cr_assert_neq(guest.tid, (uint32_t)gettid());
}

Test(guest, is_one_however_often_it_is_wanted)
{
	prepare(wait_to_end);
	for (int i = 0; i < 100; i++)
		pft_guest_want();
	let_it_end();
	cr_assert(pft_guest_join(LONG_NS));
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 1, "it does not start again by itself");
}

Test(guest, starts_again_when_it_is_allowed)
{
	run(look_around);
	pft_guest_allow();
	cr_assert_eq(guest.runs, 1, "and wanted");
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 2);
}

Test(guest, that_is_refused_does_not_start)
{
	prepare(look_around);
	cr_assert(pft_guest_refuse());
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 0);
	cr_assert(pft_guest_refuse(), "it still does not run");
	pft_guest_allow();
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 1);
}

Test(guest, that_runs_goes_on_when_it_is_refused)
{
	uint64_t before_ns;

	prepare(wait_to_end);
	pft_guest_want();
	cr_assert_not(pft_guest_refuse());
	before_ns = pft_clock_ns(CLOCK_MONOTONIC);
	cr_assert_not(pft_guest_join(SHORT_NS));
	cr_assert_lt(pft_clock_ns(CLOCK_MONOTONIC) - before_ns, 40 * SHORT_NS, "nobody waits longer");
	let_it_end();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert(pft_guest_refuse());
}

static void *want(void *unused)
{
	pft_guest_want();
	return unused;
}

Test(guest, is_one_whoever_wants_it_at_once)
{
	pthread_t threads[8];

	prepare(look_around);
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, want, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 1);
}

Test(guest, that_cannot_be_started_says_why_and_is_not_tried_again)
{
	struct rlimit none = {4096, RLIM_INFINITY}, before;

	prepare(look_around);
	getrlimit(RLIMIT_AS, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_AS, &none);
	pft_guest_want();
	setrlimit(RLIMIT_AS, &before);
	cr_assert_eq(pft_guest_error(), -ENOMEM);
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 0);
	pft_guest_allow();
	cr_assert_eq(pft_guest_error(), 0);
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 1);
}

// The kernel gives the pages back when the thread has run for the last time, and before it forgets it.
static void leave_much_to_do(void)
{
	long fd = pft_sys2(SYS_memfd_create, "", 0);

	pft_sys4(SYS_fallocate, fd, 0, 0, 32 << 20);
	guest.tid = (uint32_t)pft_sys_gettid();
}

// As unshare(CLONE_NEWUSER) asks, which fails while there are two.
Test(guest, is_no_thread_of_the_process_once_it_has_been_joined)
{
	prepare(leave_much_to_do);
	for (unsigned turn = 0; turn < 10; turn++) {
		pft_guest_allow();
		pft_guest_want();
		cr_assert(pft_guest_join(LONG_NS));
		cr_assert_eq(tgkill(getpid(), (pid_t)guest.tid, 0), -1, "turn %u", turn);
	}
}

static sigjmp_buf before_it;

static void leave(void)
{
	siglongjmp(before_it, 1);
}

// A handler that leaves in the middle of the start would leave a guest that never runs.
Test(guest, runs_though_a_handler_leaves_anywhere_before)
{
	unsigned steps;

	prepare(look_around);
	steps = stepped_all(pft_guest_want, NULL);
	cr_assert_gt(steps, 20);
	for (volatile unsigned at = 0; at < steps; at++) {
		cr_assert(pft_guest_join(LONG_NS));
		pft_guest_prepare(look_around);
		guest.runs = 0;
		if (!sigsetjmp(before_it, 1))
			stepped_at(at, pft_guest_want, leave);
		pft_guest_want();
		cr_assert(pft_guest_join(LONG_NS));
		cr_assert_eq(guest.runs, 1, "at %u", at);
	}
}

// ---- a child's ---------------------------------------------------------------------------------------

Test(guest, starts_in_a_forked_child_when_it_runs_in_the_parent)
{
	int status = 0;
	pid_t child;

	prepare(wait_to_end);
	pft_guest_want();
	child = fork();
	if (child == 0) {
		pft_session->pid = (uint32_t)getpid();
		pft_guest_prepare(look_around);
		pft_guest_want();
		_exit(pft_guest_join(LONG_NS) && guest.runs > 0 && guest.tid != (uint32_t)gettid() ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert_not(pft_guest_join(SHORT_NS), "the parent's goes on");
	let_it_end();
	cr_assert(pft_guest_join(LONG_NS));
}

// A child of vfork runs in its parent's memory, and its threads end with it.
Test(guest, is_not_started_by_another_process)
{
	prepare(look_around);
	pft_session->pid++;
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 0);
	pft_session->pid--;
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.runs, 1);
}

// ---- what the program does not notice ----------------------------------------------------------------

// All 64 but those that cannot be blocked.
#define ALL_SIGNALS (~(UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1)))

Test(guest, takes_no_signal)
{
	sigset_t before = {0}, after = {0};

	sigprocmask(SIG_BLOCK, NULL, &before);
	run(look_around);
	cr_assert_eq(guest.blocked, ALL_SIGNALS);
	sigprocmask(SIG_BLOCK, NULL, &after);
	cr_assert_eq(memcmp(&before, &after, sizeof(before)), 0, "the program's mask is as before");
}

Test(guest, has_no_descriptor)
{
	run(look_around);
	cr_assert_eq(guest.open_count, 0);
	cr_assert_geq(fcntl(2, F_GETFD), 0, "the program has its own");
}

Test(guest, has_the_descriptor_that_it_shall_keep)
{
	int fd = fcntl(2, F_DUPFD_CLOEXEC, 100);

	prepare(look_around);
	pft_guest_keep((int[]){fd, -1}, 2);
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.open_count, 1);
	cr_assert_eq(guest.open[0], fd);
	cr_assert_geq(fcntl(fd, F_GETFD), 0);
	close(fd);
}

Test(guest, may_keep_the_first_descriptor)
{
	prepare(look_around);
	pft_guest_keep((int[]){-1, 0}, 2);
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.open_count, 1);
	cr_assert_eq(guest.open[0], 0);
}

Test(guest, may_keep_several_descriptors)
{
	int fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = fcntl(2, F_DUPFD_CLOEXEC, 100 + i);
	prepare(look_around);
	pft_guest_keep((int[]){fds[1], -1, fds[2], fds[0]}, 4);
	pft_guest_want();
	cr_assert(pft_guest_join(LONG_NS));
	cr_assert_eq(guest.open_count, 3);
	cr_assert_eq(guest.open[0] + guest.open[1] + guest.open[2], fds[0] + fds[1] + fds[2]);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

Test(guest, has_a_directory_of_its_own)
{
	char *before = getcwd(NULL, 0), *after;
	mode_t mask = umask(022);

	umask(mask);
	run(look_around);
	after = getcwd(NULL, 0);
	cr_assert_str_eq(after, before);
	cr_assert_eq(umask(mask), mask);
	free(before);
	free(after);
}

Test(guest, is_not_counted_by_libc)
{
	char before = __libc_single_threaded;

	run(look_around);
	cr_assert_eq(__libc_single_threaded, before);
}

Test(guest, has_a_stack_and_thread_local_variables_of_its_own)
{
	uintptr_t thread_pointer, canary;

	run(look_around);
	__asm__("mov %%fs:0, %0" : "=r"(thread_pointer));
	__asm__("mov %%fs:40, %0" : "=r"(canary));
	cr_assert_neq(guest.thread_pointer, thread_pointer);
	cr_assert_eq(guest.thread_pointer_again, guest.thread_pointer);
	cr_assert_eq(guest.canary, canary);
	cr_assert_neq(guest.error, &errno);
	cr_assert_lt((uintptr_t)guest.error, guest.thread_pointer);
	cr_assert_lt(guest.frame, (uintptr_t)guest.error, "the stack lies below");
	cr_assert_eq(guest.frame % 16, 0);
}
