// SPDX-License-Identifier: MIT
// Libraries that are opened, called and closed again while running, RTLD_LOCAL and RTLD_DEEPBIND.
#include <dlfcn.h>

#include "tests/programs/common.h"

static long use(int flags)
{
	void *library = dlopen("libcalls.so", flags);
	int (*outer)(int);
	long result;

	MUST(library != NULL);
	outer = (int (*)(int))dlsym(library, "outer");
	MUST(outer != NULL);
	result = outer(1);
	MUST(dlclose(library) == 0);
	return result;
}

int main(void)
{
	long sum = 0;

	for (int i = 0; i < 50; i++) {
		sum += use(RTLD_LAZY | RTLD_LOCAL);
		sum += use(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	}
	printf("%ld\n", sum);
	return 0;
}
