// SPDX-License-Identifier: MIT
// Thousands of short threads: each one's only call is in the trace, joined or detached.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int running;

static void *joined(void *unused)
{
	leaf();
	return unused;
}

static void *detached(void *unused)
{
	inner(0);
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return unused;
}

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 1, 2000);

	for (long i = 0; i < count; i++) {
		thread_join(thread_start(joined, NULL));
		__atomic_fetch_add(&running, 1, __ATOMIC_ACQUIRE);
		pthread_detach(thread_start(detached, NULL));
	}
	while (__atomic_load_n(&running, __ATOMIC_ACQUIRE))
		usleep(1000);
	printf("%ld\n", count);
	return 0;
}
