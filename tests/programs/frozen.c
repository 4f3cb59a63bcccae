// SPDX-License-Identifier: MIT
// The shim's own thread is stopped for good, and the program ends all the same: frozen WAY. Calls of leaf():
// 100, which are written before that, 20000 then and 6000 in threads, one after the other.
// build: -lcalls -D_GNU_SOURCE
#include <sched.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/freezer.h"

static void call(int times)
{
	while (times--)
		leaf();
}

static void *call_some(void *unused)
{
	call(2000);
	return unused;
}

static void *exit_from_here(void *unused)
{
	(void)unused;
	exit(9);
}

// What stops the shim's thread, waits for it, or has it follow.
static void disturb(void)
{
	pid_t child = fork();

	if (child == 0) {
		leaf();
		_exit(0);
	}
	MUST(waitpid(child, NULL, 0) == child);
	for (int i = 0; i < 3; i++) {
		MUST(unshare(CLONE_FS) == 0);
		MUST(setgid(getgid()) == 0);
		execl("/nowhere", "/nowhere", NULL);
	}
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";

	call(100);
	usleep(300000);
	freezer_start(0);
	call(20000);
	for (int i = 0; i < 3; i++)
		thread_join(thread_start(call_some, NULL));
	puts("done");
	fflush(stdout);
	if (strcmp(way, "disturbed") == 0)
		disturb();
	if (strcmp(way, "_exit") == 0)
		_exit(7);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(8);
	if (strcmp(way, "thread") == 0)
		thread_join(thread_start(exit_from_here, NULL));
	if (strcmp(way, "exec") == 0)
		execl("/bin/echo", "echo", "executed", NULL);
	return 6;
}
