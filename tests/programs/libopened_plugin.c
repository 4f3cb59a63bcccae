// SPDX-License-Identifier: MIT
// To be opened: calls libcalls, also from its constructor and destructor.
// build: -lcalls -Wl,-z,lazy -Wl,-rpath,'$ORIGIN'
#include "tests/programs/calls.h"
#include "tests/programs/opens.h"

static void __attribute__((constructor)) begin(void)
{
	leaf();
}

static void __attribute__((destructor)) end(void)
{
	leaf();
}

int work(int x)
{
	return outer(x);
}

int work_through(int (*callback)(void *), void *context)
{
	return through(callback, context);
}
