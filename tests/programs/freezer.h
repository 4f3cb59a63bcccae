// SPDX-License-Identifier: MIT
// Stops the shim's own thread, by a tracer of that thread alone, so that nobody empties the buffers. For
// programs with one thread of their own; without the shim there is nothing to stop.
#ifndef PFT_TESTS_FREEZER_H
#define PFT_TESTS_FREEZER_H

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/programs/common.h"

struct freezer {
	pid_t tracer; // or 0
};

static inline pid_t freezer_other_thread(void)
{
	DIR *threads = opendir("/proc/self/task");
	struct dirent *entry;
	pid_t found = 0;

	MUST(threads != NULL);
	while ((entry = readdir(threads)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid())
			found = atoi(entry->d_name);
	closedir(threads);
	return found;
}

// The child, made past the C library so that the shim does not take it for a part of the program.
static inline void freezer_trace(pid_t thread, int seconds, int ready)
{
	char answer = ptrace(PTRACE_SEIZE, thread, NULL, NULL) == 0 &&
		      ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) == 0 &&
		      waitpid(thread, NULL, __WALL) == thread;

	syscall(SYS_write, ready, &answer, 1);
	syscall(SYS_alarm, seconds);
	waitpid(thread, NULL,
		__WALL); // up to its end: a thread that is traced is not gone before its tracer knows
	syscall(SYS_exit_group, 0);
}

// For so many seconds, or 0: until it is stopped.
static inline struct freezer freezer_start(int seconds)
{
	pid_t thread = freezer_other_thread();
	struct freezer freezer = {0};
	int ready[2];
	char answer = 0;

	if (!thread)
		return freezer;
	MUST(pipe(ready) == 0);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	freezer.tracer = syscall(SYS_fork);
	if (freezer.tracer == 0)
		freezer_trace(thread, seconds, ready[1]);
	MUST(read(ready[0], &answer, 1) == 1 && answer);
	close(ready[0]);
	close(ready[1]);
	return freezer;
}

// What was traced goes on when its tracer ends (ptrace(2)).
static inline void freezer_stop(struct freezer freezer)
{
	if (!freezer.tracer)
		return;
	kill(freezer.tracer, SIGKILL);
	waitpid(freezer.tracer, NULL, 0);
}

#endif
