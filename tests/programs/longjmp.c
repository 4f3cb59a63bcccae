// SPDX-License-Identifier: MIT
// longjmp over hooked frames, as often as one likes: what was skipped is closed, nothing piles up.
// build: -lcalls
#include <setjmp.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static jmp_buf target;

static int jumps(void *unused)
{
	(void)unused;
	longjmp(target, 1);
}

static int passes(void *context)
{
	return through_again(jumps, context);
}

int main(int argc, char **argv)
{
	volatile long count = argument(argc, argv, 1, 1000);
	volatile long jumped = 0;

	for (volatile long i = 0; i < count; i++) {
		if (setjmp(target) == 0)
			through(passes, NULL);
		else
			jumped++;
	}
	leaf();
	printf("%ld %d\n", jumped, outer(1));
	return 0;
}
