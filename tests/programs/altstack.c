// SPDX-License-Identifier: MIT
// A handler on the smallest alternate stack records its calls while it interrupts recording. altstack
// CALLS 1: on the thread's own stack.
// build: -lcalls
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static volatile long handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
	outer(0);
}

// As small as the kernel allows on this processor (AVX-512 makes a signal frame large), and a page for the
// handler. The page below is inaccessible.
static void stack_install(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t bytes = (sysconf(_SC_MINSIGSTKSZ) + 4096 + page - 1) / page * page;
	char *memory = mmap(NULL, page + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = {.ss_sp = memory + page, .ss_size = bytes};

	MUST(memory != MAP_FAILED);
	MUST(mprotect(memory + page, bytes, PROT_READ | PROT_WRITE) == 0);
	MUST(sigaltstack(&stack, NULL) == 0);
}

int main(int argc, char **argv)
{
	long calls = argument(argc, argv, 1, 20000);
	int on_stack = argument(argc, argv, 2, 0) ? 0 : SA_ONSTACK;
	struct sigaction action = {.sa_handler = handle, .sa_flags = on_stack | SA_RESTART};
	struct itimerval fast = {{0, 50}, {0, 50}}, off = {{0, 0}, {0, 0}};
	FILE *side;

	stack_install();
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &fast, NULL);
	for (long i = 0; i < calls || handled == 0; i++)
		middle(0);
	setitimer(ITIMER_REAL, &off, NULL);
	side = side_open("handled");
	fprintf(side, "%ld\n", handled);
	fclose(side);
	puts("survived");
	return 0;
}
