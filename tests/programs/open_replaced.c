// SPDX-License-Identifier: MIT
// One file name, under which now this library is opened and now that one: replaced FILE LIBRARY...
#include <dlfcn.h>

#include "tests/programs/common.h"

static int use(const char *path)
{
	void *library = dlopen(path, RTLD_LAZY);
	int (*work)(int), result;

	MUST(library != NULL);
	work = (int (*)(int))dlsym(library, "work");
	result = work(1);
	MUST(dlclose(library) == 0);
	return result;
}

int main(int argc, char **argv)
{
	long sum = 0;

	for (int round = 0; round < 5; round++) {
		for (int i = 2; i < argc; i++) {
			unlink(argv[1]);
			MUST(symlink(argv[i], argv[1]) == 0);
			sum += use(argv[1]);
		}
	}
	printf("%ld\n", sum);
	return 0;
}
