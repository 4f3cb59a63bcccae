// SPDX-License-Identifier: MIT
// A library that has something to do when it goes: in an atexit handler of its own and in its destructor.
// These come one way round when the process ends, and the other way when the library is closed.
#include <stdlib.h>

#include "tests/programs/calls.h"

static int gone;

static void go(void)
{
	leaf();
	if (++gone == 2)
		inner(0);
}

__attribute__((constructor)) static void begin(void)
{
	leaf();
	atexit(go);
}

__attribute__((destructor)) static void end(void)
{
	go();
}
