// SPDX-License-Identifier: MIT
// A function that is chosen at binding is called, and its address taken; another one is the program's own,
// and its slot has no name (R_X86_64_IRELATIVE).
// build: -D_GNU_SOURCE -lifunc
#include <dlfcn.h>

#include "tests/programs/common.h"

int picks(int x);

static int chosen_here(int x)
{
	return x - 1;
}

__attribute__((used)) static int (*resolve_own(void))(int)
{
	return chosen_here;
}

static int own(int x) __attribute__((ifunc("resolve_own")));

int main(void)
{
	int (*volatile pointer)(int) = picks;
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += picks(i) + own(i);
	MUST(pointer == dlsym(RTLD_DEFAULT, "picks"));
	printf("%d\n", sum);
	return 0;
}
