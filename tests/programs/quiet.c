// SPDX-License-Identifier: MIT
// Says what the shim could have added to the process: mappings, threads, descriptors. Off means none.
// build: -lcalls
#include <dirent.h>
#include <stdbool.h>

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

// Mappings that are not the library's: its files, and the nameless one right behind them, which is its .bss.
static int mappings(void)
{
	char line[4096];
	bool ours = false;
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps)) {
		bool bss = ours && !strchr(line, '/') && !strchr(line, '[');

		ours = strstr(line, "libpftshim") != NULL;
		count += !ours && !bss;
	}
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
