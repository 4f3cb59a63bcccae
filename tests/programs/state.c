// SPDX-License-Identifier: MIT
// What a program can see of itself is as without the shim: signals, limits, directory, its environment.
// build: -lcalls
#include <sys/resource.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void print_signals(void)
{
	char line[256];
	FILE *status = fopen("/proc/thread-self/status", "r");

	while (fgets(line, sizeof(line), status))
		if ((strncmp(line, "Sig", 3) == 0 && line[3] != 'Q') || strncmp(line, "Shd", 3) == 0 ||
			strncmp(line, "NoNewPrivs", 10) == 0 || strncmp(line, "Umask", 5) == 0)
			fputs(line, stdout);
	fclose(status);
}

static void *of_thread(void *unused)
{
	outer(1);
	print_signals();
	return unused;
}

int main(void)
{
	struct rlimit limit;
	char directory[4096];

	print_signals();
	for (int i = 0; i < 10000; i++)
		leaf();
	print_signals();
	thread_join(thread_start(of_thread, NULL));
	getrlimit(RLIMIT_NOFILE, &limit);
	printf("%lu %s\n", limit.rlim_cur, getcwd(directory, sizeof(directory)));
	printf("%s\n", getenv("LD_LIBRARY_PATH"));
	return 0;
}
