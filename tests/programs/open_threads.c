// SPDX-License-Identifier: MIT
// Threads that open, call and close the same libraries at once, while the program forks; each child does it
// too: open_threads ROUNDS CHILDREN.
#include <dlfcn.h>
#include <sys/wait.h>

#include "tests/programs/common.h"

static const char *const names[] = {
	"libopened_plugin.so", "libopened_twin_a.so", "libopened_twin_b.so", "libopened_bare.so"};

static long rounds;

static long use(const char *name)
{
	void *library = dlopen(name, RTLD_LAZY);
	int (*work)(int);
	long result;

	MUST(library != NULL);
	work = (int (*)(int))dlsym(library, "work");
	MUST(work != NULL);
	result = work(1);
	MUST(dlclose(library) == 0);
	return result;
}

static void *body(void *first)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += use(names[(i + (intptr_t)first) % 4]);
	return (void *)sum;
}

// The loader's lists may be half changed in the child of a process with threads, with the shim or without; so
// the threads are gone when it forks.
static void fork_once(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(use(names[0]) + use(names[1]) == 105 ? 0 : 1);
	MUST(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	long children = argument(argc, argv, 2, 5), sum = 0;
	pthread_t threads[4];

	rounds = argument(argc, argv, 1, 100);
	for (intptr_t i = 0; i < 4; i++)
		threads[i] = thread_start(body, (void *)i);
	for (int i = 0; i < 4; i++) {
		void *part;

		MUST(pthread_join(threads[i], &part) == 0);
		sum += (long)part;
	}
	for (long i = 0; i < children; i++)
		fork_once();
	printf("%ld\n", sum);
	return 0;
}
