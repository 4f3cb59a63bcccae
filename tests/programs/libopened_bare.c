// SPDX-License-Identifier: MIT
// To be opened: linked without crti.o and its kin, so that nothing in it runs before it is called.
// build: -nostartfiles -lcalls -Wl,-rpath,'$ORIGIN'
#include "tests/programs/calls.h"
#include "tests/programs/opens.h"

int work(int x)
{
	return outer(x);
}
