// SPDX-License-Identifier: MIT
// A library that calls a function and takes its address is opened and closed, again and again.
// build: -Wl,--no-as-needed -lcalls
#include <dlfcn.h>

#include "tests/programs/address.h"
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void *of(void *library, const char *symbol)
{
	void *found = dlsym(library, symbol);

	MUST(found != NULL);
	return found;
}

static void use(function *expected)
{
	void *library = dlopen("libaddress.so", RTLD_NOW);

	MUST(library != NULL);
	((void (*)(long))of(library, "call_leaf"))(1);
	MUST(((function * (*)(void)) of(library, "address_of_leaf"))() == expected);
	MUST(dlclose(library) == 0);
}

int main(int argc, char **argv)
{
	long times = argument(argc, argv, 1, 100);
	function *volatile expected = leaf;

	for (long i = 0; i < times; i++)
		use(expected);
	puts("one address");
	return 0;
}
