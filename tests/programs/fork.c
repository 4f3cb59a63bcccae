// SPDX-License-Identifier: MIT
// A forked child, and its child, and so on, go on under traces of their own.
// build: -lcalls
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int fork_chain(int generations)
{
	int status = 0;

	leaf();
	fflush(stdout);
	if (generations == 0)
		return 0;
	if (fork() == 0)
		exit(fork_chain(generations - 1) + 1);
	wait(&status);
	inner(0);
	return WEXITSTATUS(status);
}

// The child leaves through frames that were hooked in its parent.
static int fork_inside(void *unused)
{
	(void)unused;
	return fork_chain(5);
}

int main(void)
{
	pid_t first = getpid();
	int generations = through(fork_inside, NULL);

	printf("%s %d\n", getpid() == first ? "parent" : "child", generations);
	return 0;
}
