// SPDX-License-Identifier: MIT
// Calls without a pause: storm CALLS. Prints the picoseconds that one took, waiting for room included.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(int argc, char **argv)
{
	long calls = argument(argc, argv, 1, 1000000);
	uint64_t start_ns = now_ns();

	for (long i = 0; i < calls; i++)
		leaf();
	printf("%.0f\n", (now_ns() - start_ns) * 1000.0 / calls);
	return 0;
}
