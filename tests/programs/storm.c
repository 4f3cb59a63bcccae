// SPDX-License-Identifier: MIT
// Threads that call faster than a flusher can write: nothing is lost, or what is lost is counted.
// Each thread's last call is inner(): it must be there whatever was overwritten before.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void *storm(void *context)
{
	long calls = *(long *)context;

	for (long i = 0; i < calls; i++)
		leaf();
	inner(0);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argument(argc, argv, 1, 4);
	long calls = argument(argc, argv, 2, 20000);
	pthread_t thread[64];

	MUST(threads <= 64);
	for (long i = 0; i < threads; i++)
		thread[i] = thread_start(storm, &calls);
	for (long i = 0; i < threads; i++)
		thread_join(thread[i]);
	printf("%ld calls\n", threads * calls);
	return 0;
}
