// SPDX-License-Identifier: MIT
// errno is what the function made of it: set by one that fails, untouched by one that succeeds.
// build: -lcalls
#include <errno.h>
#include <fcntl.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int expect_kept(int value)
{
	errno = value;
	leaf();
	outer(1);
	return errno == value;
}

static int expect_set(void)
{
	errno = 0;
	return open("/nonexistent/file", O_RDONLY) == -1 && errno == ENOENT;
}

int main(int argc, char **argv)
{
	long kept = 0, set = 0;

	for (long i = argument(argc, argv, 1, 5000); i > 0; i--) {
		kept += expect_kept(i % 130);
		set += expect_set();
	}
	printf("%ld %ld\n", kept, set);
	return 0;
}
