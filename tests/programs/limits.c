// SPDX-License-Identifier: MIT
// A program that may write no more, or open no more, is not hurt by what the shim would write or open.
// build: -lcalls
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void call(int times)
{
	for (int i = 0; i < times; i++)
		leaf();
}

static void limit(int what, rlim_t value)
{
	struct rlimit limit = {value, value};

	MUST(setrlimit(what, &limit) == 0);
}

int main(int argc, char **argv)
{
	long first = argument(argc, argv, 2, 0);

	MUST(argc > 1);
	call(first);
	if (strcmp(argv[1], "file-size") == 0)
		limit(RLIMIT_FSIZE, 4096);
	if (strcmp(argv[1], "descriptors") == 0)
		limit(RLIMIT_NOFILE, 3);
	if (strcmp(argv[1], "memory") == 0)
		limit(RLIMIT_AS, 1);
	if (strcmp(argv[1], "processes") == 0)
		limit(RLIMIT_NPROC, 0);
	call(50000);
	puts("done");
	return 0;
}
