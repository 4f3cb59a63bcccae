// SPDX-License-Identifier: MIT
// A recursion of a hundred thousand hooked calls returns, and what is deeper than viewers go is counted.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(int argc, char **argv)
{
	printf("%ld\n", recurse(argument(argc, argv, 1, 100000)));
	return 0;
}
