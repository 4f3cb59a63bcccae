// SPDX-License-Identifier: MIT
// Coroutines that are thrown away in the middle of hooked calls, on a few stacks that others then get:
// thrown_away [COUNT]. What the program holds must not grow with their number.
//
// build: -lcalls
#include <ucontext.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define STACKS 64
#define STACK_BYTES 16384
#define GROWTH_KB_MAX 8192 // of the later nine tenths

static ucontext_t here, inside;
static char stacks[STACKS][STACK_BYTES] __attribute__((aligned(4096)));

static int leaves_for_good(void *unused)
{
	(void)unused;
	swapcontext(&inside, &here);
	return 0;
}

static int goes_deeper(void *unused)
{
	return through_again(leaves_for_good, unused);
}

static void body(void)
{
	through(goes_deeper, NULL);
}

static void run(long number)
{
	getcontext(&inside);
	inside.uc_stack.ss_sp = stacks[number % STACKS];
	inside.uc_stack.ss_size = STACK_BYTES;
	makecontext(&inside, body, 0);
	swapcontext(&here, &inside);
}

static long resident_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	MUST(status);
	while (kb < 0 && fgets(line, sizeof(line), status))
		sscanf(line, "RssAnon: %ld", &kb);
	fclose(status);
	return kb;
}

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 1, 1000), before_kb = 0, growth_kb;

	for (long i = 0; i < count; i++) {
		if (i == count / 10)
			before_kb = resident_kb();
		run(i);
	}
	growth_kb = resident_kb() - before_kb;
	if (growth_kb > GROWTH_KB_MAX)
		fprintf(stderr, "grew by %ld KB\n", growth_kb);
	puts("thrown away");
	return 0;
}
