// SPDX-License-Identifier: MIT
// fork, daemon and _exit, interposed: where a process begins and ends. App context, and a child of vfork,
// which runs in its parent's memory: there nothing of ours may change.
#include "shim/process.h"

#include <time.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/export.h"
#include "shim/hot/clock.h"
#include "shim/hot/learn.h"
#include "shim/hot/self.h"
#include "shim/hot/signals.h"
#include "shim/next.h"

bool pft_process_filters;
void (*pft_process_end)(void);
uint64_t pft_process_forked_ns;

bool pft_process_records(void)
{
	return pft_recording_is_on() && pft_session->pid == (uint32_t)pft_sys_getpid();
}

// What the copy of this process must not find half done.
struct copied {
	bool records, asks, held;
	uint64_t signals;
};

static struct copied before_copy(void)
{
	struct copied copied = {.records = pft_process_records()};

	copied.asks = pft_unwinder && copied.records;
	// A handler that left by siglongjmp would leave the unwinder held.
	copied.signals = copied.asks ? pft_signals_hold() : 0;
	copied.held = copied.asks && pft_learn_hold();
	if (copied.records)
		pft_process_forked_ns = pft_clock_ns(CLOCK_BOOTTIME);
	return copied;
}

// A child's first event would start its session as well (the wiped block leads there), but a child without
// events is a process of the tree too. Several threads may fork at a time: then a child may take the time of
// another fork for its own, which is microseconds off.
static void after_copy(const struct copied *copied, bool is_child)
{
	// Who was asking it while the process was copied would be missing in the child.
	if (copied->held)
		pft_learn_release();
	if (copied->asks)
		pft_signals_release(copied->signals);
	if (is_child)
		pft_self_get();
	else if (copied->records)
		pft_process_forked_ns = 0;
}

static pid_t do_fork(enum pft_next number)
{
	pid_t (*next)(void) = pft_next(number);
	struct copied copied = before_copy();
	pid_t child = next();

	after_copy(&copied, child == 0);
	return child;
}

PFT_EXPORT pid_t fork(void)
{
	return do_fork(PFT_NEXT_fork);
}

PFT_EXPORT pid_t _Fork(void)
{
	return do_fork(PFT_NEXT__Fork);
}

// libc forks in it and ends this process, both unseen.
PFT_EXPORT int daemon(int keeps_directory, int keeps_files)
{
	int (*next)(int, int) = pft_next(PFT_NEXT_daemon);
	bool was_here = pft_exec_before(NULL);
	struct copied copied = before_copy();
	int result = next(keeps_directory, keeps_files);
	bool is_child = copied.records && pft_session->pid != (uint32_t)pft_sys_getpid();

	after_copy(&copied, is_child);
	return is_child ? result : pft_exec_after(was_here, result);
}

PFT_EXPORT void _exit(int status)
{
	if (pft_process_records())
		pft_process_end();
	for (;;)
		pft_sys1(SYS_exit_group, status);
}

PFT_EXPORT void _Exit(int status)
{
	_exit(status);
}
