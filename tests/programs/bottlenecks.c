// SPDX-License-Identifier: MIT
// A program that is held up in one way, or just not: bottlenecks
// lock|free|read|ready|sleep|work|serial|shared.
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/common.h"

#define MS 1000000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;
static int pipe_ends[2];

static void pass(long ns)
{
	uint64_t end_ns = now_ns() + (uint64_t)ns;

	while (now_ns() < end_ns)
		;
}

static void *holds(void *ns)
{
	pthread_barrier_wait(&together);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&lock);
		pass(*(long *)ns);
		pthread_mutex_unlock(&lock);
		usleep(100);
	}
	return NULL;
}

// Two threads that want one lock, which each holds for that long.
static void wants_lock(long ns)
{
	pthread_t other;

	pthread_barrier_init(&together, NULL, 2);
	MUST(pthread_create(&other, NULL, holds, &ns) == 0);
	holds(&ns);
	MUST(pthread_join(other, NULL) == 0);
}

static void *writes_late(void *nothing)
{
	for (int i = 0; i < 10; i++) {
		pass(10 * MS);
		MUST(write(pipe_ends[1], "x", 1) == 1);
	}
	return nothing;
}

static void reads(int late)
{
	char byte;
	pthread_t writer;

	MUST(pipe(pipe_ends) == 0);
	if (late)
		MUST(pthread_create(&writer, NULL, writes_late, NULL) == 0);
	for (int i = 0; i < 10; i++) {
		if (!late)
			MUST(write(pipe_ends[1], "x", 1) == 1);
		MUST(read(pipe_ends[0], &byte, 1) == 1);
		pass(MS);
	}
	if (late)
		MUST(pthread_join(writer, NULL) == 0);
	else
		pass(100 * MS);
}

static void *works(void *ms)
{
	pthread_barrier_wait(&together);
	pass(*(long *)ms * MS);
	pthread_barrier_wait(&together);
	return NULL;
}

// Two threads that meet; one of them has that much to do, the other a tenth of a second.
static void meets(long ms)
{
	long own_ms = 100;
	pthread_t other;

	pthread_barrier_init(&together, NULL, 2);
	MUST(pthread_create(&other, NULL, works, &ms) == 0);
	works(&own_ms);
	MUST(pthread_join(other, NULL) == 0);
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "lock") == 0 || strcmp(how, "free") == 0)
		wants_lock(how[0] == 'l' ? 5 * MS : 0);
	else if (strcmp(how, "read") == 0 || strcmp(how, "ready") == 0)
		reads(strcmp(how, "read") == 0);
	else if (strcmp(how, "sleep") == 0)
		usleep(200000);
	else if (strcmp(how, "work") == 0)
		pass(200 * MS);
	else if (strcmp(how, "serial") == 0 || strcmp(how, "shared") == 0)
		meets(how[1] == 'e' ? 1 : 100);
	else
		return 2;
	puts(how);
	return 0;
}
