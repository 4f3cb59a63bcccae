// SPDX-License-Identifier: MIT
// fork and _exit, interposed: where a process begins and ends. App context, and a child of vfork, which runs
// in its parent's memory: there nothing of ours may change.
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

// Later would do as well (the wiped block leads to a session of the child's own at its first event), but a
// child without events is a process of the tree too. Several threads may fork at a time: then a child may
// take the time of another fork for its own, which is microseconds off.
static pid_t do_fork(enum pft_next number)
{
	pid_t (*next)(void) = pft_next(number);
	bool records = pft_process_records();
	bool asks = pft_unwinder && records;
	// A handler that left by siglongjmp would leave the unwinder held.
	uint64_t signals = asks ? pft_signals_hold() : 0;
	bool held = asks && pft_learn_hold();
	pid_t child;

	if (records)
		pft_process_forked_ns = pft_clock_ns(CLOCK_BOOTTIME);
	child = next();
	// Who was asking it while the process was copied would be missing in the child.
	if (held)
		pft_learn_release();
	if (asks)
		pft_signals_release(signals);
	if (child == 0)
		pft_self_get();
	else if (records)
		pft_process_forked_ns = 0;
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
