// SPDX-License-Identifier: MIT
// What a call costs beside two clock reads, measured by turns in one run: bursts that fit into a thread's
// buffer, with pauses in which it is emptied. Prints the medians in picoseconds: two clock reads, a call.
// build: -lcalls
#include <x86intrin.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define BURSTS 400
#define BURST 500

static int by_size(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static long median_ps(double *ns)
{
	qsort(ns, BURSTS, sizeof(*ns), by_size);
	return ns[BURSTS / 2] * 1000 / BURST;
}

static double burst_of_clock_reads(void)
{
	uint64_t start_ns = now_ns();
	uint64_t sum = 0;

	for (int i = 0; i < BURST; i++) {
		sum += __rdtsc();
		sum += __rdtsc();
	}
	__asm__ volatile("" : : "r"(sum));
	return now_ns() - start_ns;
}

static double burst_of_calls(void)
{
	uint64_t start_ns = now_ns();

	for (int i = 0; i < BURST; i++)
		leaf();
	return now_ns() - start_ns;
}

int main(void)
{
	static double reads[BURSTS], calls[BURSTS];
	struct timespec pause = {0, 500000};

	for (int i = 0; i < BURSTS; i++) {
		reads[i] = burst_of_clock_reads();
		calls[i] = burst_of_calls();
		nanosleep(&pause, NULL);
	}
	printf("%ld %ld\n", median_ps(reads), median_ps(calls));
	return 0;
}
