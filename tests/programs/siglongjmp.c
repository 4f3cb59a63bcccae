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

static void timer_set(int interval_us)
{
	struct itimerval timer = {{0, interval_us}, {0, interval_us}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv)
{
	volatile long calls = argument(argc, argv, 1, 1000000);
	uint64_t end_ns = now_ns() + 2000000000;
	volatile long jumps = 0, done = 0;

	signal(SIGALRM, jump_out);
	timer_set(50);
	while ((done < calls || jumps < 100) && now_ns() < end_ns) {
		if (sigsetjmp(target, 1))
			jumps++;
		armed = 1;
		for (int i = 0; i < 1000; i++, done++)
			leaf();
		armed = 0;
	}
	armed = 0;
	timer_set(0);
	MUST(jumps > 0);
	puts(outer(1) == 4 ? "survived" : "broken");
	return 0;
}
