// SPDX-License-Identifier: MIT
// fork from a thread while others record: no child hangs, and each has its trace.
// build: -lcalls
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static volatile int stop;

static void *busy(void *unused)
{
	while (!stop) {
		outer(1);
		usleep(100);
	}
	return unused;
}

static void *forks(void *context)
{
	long count = *(long *)context;

	for (long i = 0; i < count; i++) {
		int status = 0;
		pid_t child = fork();

		MUST(child >= 0);
		if (child == 0) {
			leaf();
			exit(3);
		}
		MUST(waitpid(child, &status, 0) == child);
		MUST(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 1, 1000);
	pthread_t threads[2] = {thread_start(busy, NULL), thread_start(busy, NULL)};

	thread_join(thread_start(forks, &count));
	stop = 1;
	thread_join(threads[0]);
	thread_join(threads[1]);
	printf("%ld children\n", count);
	return 0;
}
