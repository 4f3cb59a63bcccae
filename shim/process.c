// SPDX-License-Identifier: MIT
// fork and _exit, interposed: where a process begins and ends. App context, and a child of vfork, which runs
// in its parent's memory: there nothing of ours may change.
#include "shim/process.h"

#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/export.h"
#include "shim/hot/learn.h"
#include "shim/hot/self.h"
#include "shim/next.h"

void (*pft_process_end)(void);

bool pft_process_records(void)
{
	return pft_recording_is_on() && pft_session->pid == (uint32_t)pft_sys_getpid();
}

PFT_EXPORT pid_t fork(void)
{
	pid_t (*next)(void) = pft_next(PFT_NEXT_fork);
	bool held = pft_unwinder && pft_process_records() && pft_learn_hold();
	pid_t child = next();

	// Who was asking it while the process was copied would be missing in the child.
	if (held)
		pft_learn_release();

	// Later would do as well (the wiped block leads here at the first event), but a child without events
	// is a process of the tree too.
	if (child == 0)
		pft_self_get();
	return child;
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
