// SPDX-License-Identifier: MIT
// Works with a second preloaded library (libwrapper), whichever of the two comes first.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(void)
{
	for (int i = 0; i < 100; i++)
		leaf();
	puts("line");
	return 0;
}
