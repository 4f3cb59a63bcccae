// SPDX-License-Identifier: MIT
// A handler leaves by siglongjmp from anywhere, the middle of recording included, and records itself.
// build: -lcalls
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static sigjmp_buf target;
static volatile sig_atomic_t armed;

static void jump_out(int signal)
{
	(void)signal;
	inner(0);
	if (armed)
		siglongjmp(target, 1);
}

// The first signal, and a few later ones: these may find a handler that is just leaving, and leave out of it.
// Were they as close as the first, a slow machine would see signals come faster than handlers leave.
static void timer_set(int first_us)
{
	struct itimerval timer = {{0, first_us ? 1000 : 0}, {0, first_us}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void call_until_jump(volatile long *done)
{
	timer_set(30 + (int)(*done % 40));
	armed = 1;
	for (;; (*done)++)
		leaf();
}

int main(int argc, char **argv)
{
	volatile long calls = argument(argc, argv, 1, 1000000);
	uint64_t end_ns = now_ns() + 2000000000;
	volatile long jumps = 0, done = 0;

	signal(SIGALRM, jump_out);
	while ((done < calls || jumps < 100) && now_ns() < end_ns) {
		armed = 0; // the target is about to be another one
		if (sigsetjmp(target, 1) == 0)
			call_until_jump(&done);
		jumps++;
	}
	armed = 0;
	timer_set(0);
	MUST(jumps > 0);
	puts(outer(1) == 4 ? "survived" : "broken");
	return 0;
}
