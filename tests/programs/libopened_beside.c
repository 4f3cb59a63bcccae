// SPDX-License-Identifier: MIT
// To be opened: opens a library by its bare name, which only its own RUNPATH can find.
// build: -Wl,-rpath,'$ORIGIN',--enable-new-dtags
#include <dlfcn.h>

#include "tests/programs/common.h"
#include "tests/programs/opens.h"

int work(int x)
{
	void *library = dlopen("libbeside.so", RTLD_NOW);
	int (*its_work)(int);
	int result;

	MUST(library != NULL);
	its_work = (int (*)(int))dlsym(library, "work");
	result = its_work(x) + 5000;
	MUST(dlclose(library) == 0);
	return result;
}
