// SPDX-License-Identifier: MIT
// Calls nest in the trace as they were made, and each is there once: lazily bound.
// build: -lcalls -Wl,-z,lazy
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 1, 100);
	long sum = 0;

	for (long i = 0; i < count; i++) {
		sum += outer(i);
		leaf();
	}
	printf("%ld\n", sum);
	return 0;
}
