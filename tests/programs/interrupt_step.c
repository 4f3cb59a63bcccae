// SPDX-License-Identifier: MIT
// A signal comes at every single instruction of a hooked call in turn; its handler makes hooked calls, then
// returns or leaves by siglongjmp. With EVERY 3, at every third: interrupt_step return|jump EVERY [1: on
// another stack].
// build: -D_GNU_SOURCE -lcalls
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define TRAP_FLAG 0x100

static volatile int stepping;
static volatile long steps_left; // until the handler does something
static volatile long handled;
static int jumps;
static long every;
static long rounds;
static sigjmp_buf target;

static void step(int signal, siginfo_t *info, void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	(void)signal;
	(void)info;
	if (stepping && steps_left > 0) {
		steps_left--;
		*flags |= TRAP_FLAG;
		return;
	}
	*flags &= ~(greg_t)TRAP_FLAG;
	if (!stepping)
		return;
	stepping = 0;
	handled++;
	outer(0);
	if (jumps)
		siglongjmp(target, 1);
}

static int calls_leaf(void *unused)
{
	(void)unused;
	leaf();
	return 0;
}

// Whether the call was long enough to be interrupted after so many steps.
static int interrupted_after(long steps)
{
	if (sigsetjmp(target, 1))
		return 1;
	steps_left = steps;
	stepping = 1;
	__asm__ volatile("int3" : : : "memory");
	through(calls_leaf, NULL);
	if (!stepping)
		return 1;
	stepping = 0;
	return 0;
}

static void interrupt_everywhere(void)
{
	long steps = 0;

	do {
		rounds++;
		steps += every;
	} while (interrupted_after(steps));
}

static void run_on_another_stack(void (*function)(void))
{
	static char stack[256 * 1024];
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, function, 0);
	swapcontext(&here, &there);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	FILE *side;

	jumps = argc > 1 && strcmp(argv[1], "jump") == 0;
	every = argument(argc, argv, 2, 1);
	sigaction(SIGTRAP, &action, NULL);
	outer(0); // starts the flusher, with all signals blocked, where a trap would end the process
	through(calls_leaf, NULL);
	if (argument(argc, argv, 3, 0))
		run_on_another_stack(interrupt_everywhere);
	else
		interrupt_everywhere();
	side = side_open("interrupted");
	fprintf(side, "%ld %ld\n", rounds, handled);
	fclose(side);
	puts(handled >= rounds - 1 ? "interrupted everywhere" : "not interrupted");
	return 0;
}
