// SPDX-License-Identifier: MIT
// Coroutines that leave each other in the middle of hooked calls come back to the right place, also when
// another thread finishes them: coroutines ROUNDS [1].
// build: -lcalls
#include <ucontext.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define STACK_BYTES 65536

static ucontext_t hub, coroutine[2];
static char stack[2][STACK_BYTES];
static int rounds;

static int leaves(void *number)
{
	int me = *(int *)number;

	for (int i = 0; i < rounds; i++) {
		printf("coroutine %d round %d\n", me, outer(i));
		swapcontext(&coroutine[me], &hub);
	}
	return me;
}

static int goes_deeper(void *number)
{
	return through_again(leaves, number);
}

static void body(int number)
{
	printf("coroutine %d ends with %d\n", number, through(goes_deeper, &number));
}

static void coroutine_make(int number)
{
	getcontext(&coroutine[number]);
	coroutine[number].uc_stack.ss_sp = stack[number];
	coroutine[number].uc_stack.ss_size = STACK_BYTES;
	coroutine[number].uc_link = &hub;
	makecontext(&coroutine[number], (void (*)(void))body, 1, number);
}

static void *finish_both(void *unused)
{
	leaf();
	swapcontext(&hub, &coroutine[1]);
	swapcontext(&hub, &coroutine[0]);
	return unused;
}

int main(int argc, char **argv)
{
	rounds = argument(argc, argv, 1, 5);
	coroutine_make(0);
	coroutine_make(1);
	for (int i = 0; i < rounds; i++) {
		swapcontext(&hub, &coroutine[0]);
		leaf();
		swapcontext(&hub, &coroutine[1]);
	}
	if (argument(argc, argv, 2, 0))
		thread_join(thread_start(finish_both, NULL));
	else
		finish_both(NULL);
	return 0;
}
