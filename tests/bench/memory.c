// SPDX-License-Identifier: MIT
// The memory of a process whose threads have filled their buffers: memory THREADS. Prints Pss in KiB.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static pthread_barrier_t barrier;

static void *body(void *unused)
{
	for (int i = 0; i < 20000; i++)
		leaf();
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

static long pss_kib(void)
{
	char line[256];
	long kib = 0;
	FILE *rollup = fopen("/proc/self/smaps_rollup", "r");

	while (fgets(line, sizeof(line), rollup))
		sscanf(line, "Pss: %ld", &kib);
	fclose(rollup);
	return kib;
}

int main(int argc, char **argv)
{
	long threads = argument(argc, argv, 1, 1);
	pthread_t thread[64];

	MUST(threads <= 64);
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (long i = 0; i < threads; i++)
		thread[i] = thread_start(body, NULL);
	pthread_barrier_wait(&barrier);
	usleep(300000);
	printf("%ld\n", pss_kib());
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < threads; i++)
		thread_join(thread[i]);
	return 0;
}
