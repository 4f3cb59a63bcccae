// SPDX-License-Identifier: MIT
// Calls without a pause: storm CALLS. Prints the picoseconds that one took, waiting for room included, and
// those of processor time that other threads spent on it.
//
// build: -lcalls
#define _GNU_SOURCE
#include <sys/resource.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static uint64_t processor_ns(int whose)
{
	struct rusage used;

	getrusage(whose, &used);
	return (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
}

int main(int argc, char **argv)
{
	long calls = argument(argc, argv, 1, 1000000);
	uint64_t start_ns = now_ns();

	for (long i = 0; i < calls; i++)
		leaf();
	printf("%.0f %.0f\n", (now_ns() - start_ns) * 1000.0 / calls,
		(processor_ns(RUSAGE_SELF) - processor_ns(RUSAGE_THREAD)) * 1000.0 / calls);
	return 0;
}
