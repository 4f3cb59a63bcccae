// SPDX-License-Identifier: MIT
// Opens libraries in turn, calls each and closes it again: opens HOW TIMES LIBRARY...
// build: -D_GNU_SOURCE
#include <dlfcn.h>

#include "tests/programs/common.h"

static void *open_library(const char *how, const char *name)
{
	if (!strcmp(how, "lazy"))
		return dlopen(name, RTLD_LAZY);
	if (!strcmp(how, "now"))
		return dlopen(name, RTLD_NOW);
	if (!strcmp(how, "global"))
		return dlopen(name, RTLD_LAZY | RTLD_GLOBAL);
	if (!strcmp(how, "deepbind"))
		return dlopen(name, RTLD_LAZY | RTLD_DEEPBIND);
	MUST(!strcmp(how, "namespace"));
	return dlmopen(LM_ID_NEWLM, name, RTLD_NOW);
}

static int use(const char *how, const char *name)
{
	void *library = open_library(how, name);
	int (*work)(int), result;

	if (!library)
		printf("%s\n", dlerror());
	MUST(library != NULL);
	work = (int (*)(int))dlsym(library, "work");
	MUST(work != NULL);
	result = work(1);
	MUST(dlclose(library) == 0);
	return result;
}

int main(int argc, char **argv)
{
	long times = argument(argc, argv, 2, 1), sum = 0;

	for (long i = 0; i < times; i++)
		for (int j = 3; j < argc; j++)
			sum += use(argv[1], argv[j]);
	printf("%ld\n", sum);
	return 0;
}
