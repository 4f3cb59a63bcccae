// SPDX-License-Identifier: MIT
// What a call costs that is made so many frames deep, as calls.c measures one. stacks DEPTH prints the
// median in picoseconds.
// build: -lcalls -fno-optimize-sibling-calls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define BURSTS 100
#define BURST 300

static int by_size(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double burst_of_calls(void)
{
	uint64_t start_ns = now_ns();

	for (int i = 0; i < BURST; i++)
		leaf();
	return now_ns() - start_ns;
}

static void measure(void)
{
	static double calls[BURSTS];
	struct timespec pause = {0, 500000};

	for (int i = 0; i < BURSTS; i++) {
		calls[i] = burst_of_calls();
		nanosleep(&pause, NULL);
	}
	qsort(calls, BURSTS, sizeof(*calls), by_size);
	printf("%ld\n", (long)(calls[BURSTS / 2] * 1000 / BURST));
}

static __attribute__((noinline)) long go_down(long depth)
{
	volatile long kept = depth;

	if (depth == 0)
		measure();
	else
		go_down(depth - 1);
	return kept;
}

int main(int argc, char **argv)
{
	go_down(argument(argc, argv, 1, 0));
	return 0;
}
