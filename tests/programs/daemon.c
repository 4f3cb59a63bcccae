// SPDX-License-Identifier: MIT
// A program that becomes a daemon, twice over: three processes, three traces.
// build: -lcalls -D_GNU_SOURCE
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(void)
{
	leaf();
	MUST(daemon(1, 1) == 0);
	leaf();
	MUST(daemon(1, 1) == 0);
	leaf();
	puts("daemon");
	return 0;
}
