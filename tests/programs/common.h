// SPDX-License-Identifier: MIT
// What the test programs share. They say FAILED on stderr, which no test expects, when a thing that must
// hold without the shim as well does not.
#ifndef PFT_TESTS_COMMON_H
#define PFT_TESTS_COMMON_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MUST(condition)                                                                                      \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			fprintf(stderr, "FAILED %s:%d: %s\n", __FILE__, __LINE__, #condition);               \
			_exit(99);                                                                           \
		}                                                                                            \
	} while (0)

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

// The number that is argument `index`, or `otherwise`.
static inline long argument(int argc, char **argv, int index, long otherwise)
{
	return index < argc ? atol(argv[index]) : otherwise;
}

static inline pthread_t thread_start(void *(*body)(void *), void *context)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, body, context) == 0);
	return thread;
}

static inline void thread_join(pthread_t thread)
{
	MUST(pthread_join(thread, NULL) == 0);
}

// A file beside the run's output, for what only the test reads.
static inline FILE *side_open(const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", getenv("TEST_DIRECTORY"), name);
	file = fopen(path, "w");
	MUST(file != NULL);
	return file;
}

#endif
