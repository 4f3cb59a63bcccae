// SPDX-License-Identifier: MIT
// Says what the shim could have added to the process: mappings, threads, descriptors. Off means none.
// build: -lcalls
#include <dirent.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int entries(const char *path)
{
	DIR *directory = opendir(path);
	int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

// Mappings that do not name libpftshim.so. Its .bss is one with the nameless mapping of the loader behind it.
static int mappings(void)
{
	char line[4096];
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "libpftshim") == NULL;
	fclose(maps);
	return count;
}

int main(void)
{
	for (int i = 0; i < 10000; i++)
		outer(i);
	printf("%d mappings\n", mappings());
	printf("%d tasks\n", entries("/proc/self/task"));
	printf("%d descriptors\n", entries("/proc/self/fd"));
	return 0;
}
