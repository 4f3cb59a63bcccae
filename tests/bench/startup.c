// SPDX-License-Identifier: MIT
// What the shim adds to the life of a program that does nothing: startup LIBRARY DIRECTORY ROUNDS. Runs it by
// turns without the shim, with mode off and with mode user. Prints the medians in nanoseconds.
#include <spawn.h>
#include <sys/wait.h>

#include "tests/programs/common.h"

#define WAYS 3
#define ROUNDS_MAX 10000

static double lives[WAYS][ROUNDS_MAX];

static double live_once(char **environment)
{
	char *words[] = {"true", NULL};
	uint64_t start_ns = now_ns();
	pid_t child;
	int status;

	MUST(posix_spawn(&child, "/bin/true", NULL, NULL, words, environment) == 0);
	MUST(waitpid(child, &status, 0) == child && status == 0);
	return now_ns() - start_ns;
}

static int by_size(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
	char preload[4096], directory[4096];
	char *plain[] = {NULL};
	char *off[] = {preload, directory, "PFT_MODE=off", NULL};
	char *user[] = {preload, directory, "PFT_MODE=user", "PFT_FUNCS=malloc", NULL};
	char **ways[WAYS] = {plain, off, user};
	long rounds = argument(argc, argv, 3, 200);

	MUST(argc > 2 && rounds <= ROUNDS_MAX);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", argv[1]);
	snprintf(directory, sizeof(directory), "PFT_TRACE_DIR=%s", argv[2]);
	for (long i = 0; i < rounds; i++)
		for (int way = 0; way < WAYS; way++)
			lives[way][i] = live_once(ways[way]);
	for (int way = 0; way < WAYS; way++) {
		qsort(lives[way], rounds, sizeof(double), by_size);
		printf("%.0f ", lives[way][rounds / 2]);
	}
	puts("");
	return 0;
}
