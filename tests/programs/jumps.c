// SPDX-License-Identifier: MIT
// A handler leaves fork, exec and what a process gives up by siglongjmp, from anywhere in them: they go on
// working. Each turn calls leaf() once. jumps [TURNS]
// build: -lcalls -D_GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static sigjmp_buf target;
static volatile sig_atomic_t armed;

static void jump_out(int signal)
{
	(void)signal;
	if (armed)
		siglongjmp(target, 1);
}

static void disturb(long turn)
{
	switch (turn % 4) {
	case 0:
		unshare(CLONE_FS);
		break;
	case 1:
		setgid(getgid());
		break;
	case 2:
		execl("/nowhere", "/nowhere", NULL);
		break;
	case 3:
		if (_Fork() == 0) // fork() itself holds a lock meanwhile
			_exit(0);
	}
}

// The timer is set for once, so that who is interrupted is so in the middle of this one.
static void disturb_and_leave(long turn)
{
	const struct itimerval soon = {.it_value = {0, 1 + turn * 7 % 400}}, never = {0};

	if (sigsetjmp(target, 1) == 0) {
		armed = 1;
		setitimer(ITIMER_REAL, &soon, NULL);
		disturb(turn);
	}
	armed = 0;
	setitimer(ITIMER_REAL, &never, NULL);
}

int main(int argc, char **argv)
{
	volatile long turns = argument(argc, argv, 1, 400);

	signal(SIGALRM, jump_out);
	for (volatile long turn = 0; turn < turns; turn++) {
		disturb_and_leave(turn);
		leaf();
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	puts("survived");
	return 0;
}
