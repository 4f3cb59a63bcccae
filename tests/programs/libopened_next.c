// SPDX-License-Identifier: MIT
// To be opened: stands in front of libcalls for one function, whose next definition it looks up.
// build: -D_GNU_SOURCE -lcalls -Wl,-rpath,'$ORIGIN'
#include <dlfcn.h>

#include "tests/programs/calls.h"
#include "tests/programs/opens.h"

int middle(int x)
{
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, "middle");

	return next ? next(x) + 1000 : -1;
}

int work(int x)
{
	leaf();
	return middle(x);
}
