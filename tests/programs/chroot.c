// SPDX-License-Identifier: MIT
// A program that locks itself into another root goes on there.
// build: -lcalls -D_GNU_SOURCE
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(void)
{
	outer(1);
	if (getuid() == 0) {
		MUST(chroot(getenv("TEST_DIRECTORY")) == 0);
		MUST(chdir("/") == 0);
	}
	for (int i = 0; i < 20000; i++)
		leaf();
	puts("locked in");
	return 0;
}
