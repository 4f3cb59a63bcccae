// SPDX-License-Identifier: MIT
// Exceptions through hooked frames, as many as one likes: nothing piles up.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int throws(void *number)
{
	throw *static_cast<long *>(number);
}

static int passes(void *number)
{
	return through_again(throws, number);
}

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 1, 100000);
	long caught = 0;

	for (long i = 0; i < count; i++) {
		try {
			through(passes, &i);
		} catch (long number) {
			caught += number == i;
		}
	}
	printf("%ld\n", caught);
	return 0;
}
