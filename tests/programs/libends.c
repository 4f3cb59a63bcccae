// SPDX-License-Identifier: MIT
// A library that calls a hooked function from its constructor and destructor.
#include <stdio.h>

#include "tests/programs/calls.h"

void ends(void)
{
	leaf();
}

__attribute__((constructor)) static void begin(void)
{
	leaf();
	puts("constructor");
}

__attribute__((destructor)) static void end(void)
{
	leaf();
	puts("destructor");
}
