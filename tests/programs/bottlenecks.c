// SPDX-License-Identifier: MIT
// A program that is held up in one way, or just not: bottlenecks
// lock|free|read|ready|sleep|doze|work|sort|serial|shared|poll|wait|storm|few|uneven|even.
// build: -D_GNU_SOURCE -lcalls
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define MS 1000000

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t together;
static int pipe_ends[2];

static void pass(long ns)
{
	uint64_t end_ns = now_ns() + (uint64_t)ns;

	// The clock is not read so often that recording it is all that there is.
	while (now_ns() < end_ns)
		for (volatile int i = 0; i < 2000; i++)
			;
}

// Whoever wants the lock waits, however busy the machine is.
static void *holds(void *lock)
{
	pthread_barrier_wait(&together);
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(lock);
		usleep(5000);
		pthread_mutex_unlock(lock);
		usleep(100);
	}
	return NULL;
}

// Two threads that want one lock, or have one each.
static void want_locks(pthread_mutex_t *one, pthread_mutex_t *other)
{
	pthread_t thread;

	pthread_barrier_init(&together, NULL, 2);
	MUST(pthread_create(&thread, NULL, holds, one) == 0);
	holds(other);
	MUST(pthread_join(thread, NULL) == 0);
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

static void *writes_at_last(void *nothing)
{
	usleep(300000);
	MUST(write(pipe_ends[1], "x", 1) == 1);
	return nothing;
}

// Waits for one byte, and looks up whenever the time limit has passed.
static void looks(int limit_ms)
{
	pthread_t writer;
	struct pollfd in = {.events = POLLIN};
	char byte;

	MUST(pipe(pipe_ends) == 0);
	MUST(pthread_create(&writer, NULL, writes_at_last, NULL) == 0);
	in.fd = pipe_ends[0];
	while (poll(&in, 1, limit_ms) == 0)
		;
	MUST(read(pipe_ends[0], &byte, 1) == 1);
	MUST(pthread_join(writer, NULL) == 0);
}

static void calls(int times)
{
	for (int i = 0; i < times; i++)
		leaf();
}

static int is_before(const void *one, const void *other)
{
	unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;

	return (a > b) - (a < b);
}

static void sorts(void)
{
	static unsigned numbers[1000000];

	for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
		numbers[i] = i * 2654435761u;
	qsort(numbers, sizeof numbers / sizeof *numbers, sizeof *numbers, is_before);
}

static void *does(void *ms)
{
	pthread_setname_np(pthread_self(), "worker");
	pass(*(long *)ms * MS);
	return NULL;
}

// Four workers; the last of them has that much to do, the others a twentieth of a second.
static void shares(long last_ms)
{
	long ms[] = {50, 50, 50, last_ms};
	pthread_t workers[4];

	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&workers[i], NULL, does, &ms[i]) == 0);
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(workers[i], NULL) == 0);
}

int main(int argc, char **argv)
{
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "lock") == 0 || strcmp(how, "free") == 0)
		want_locks(&locks[0], &locks[how[0] == 'f']);
	else if (strcmp(how, "read") == 0 || strcmp(how, "ready") == 0)
		reads(strcmp(how, "read") == 0);
	else if (strcmp(how, "sleep") == 0)
		usleep(200000);
	else if (strcmp(how, "doze") == 0)
		usleep(10), pass(200 * MS);
	else if (strcmp(how, "sort") == 0)
		sorts();
	else if (strcmp(how, "work") == 0)
		pass(200 * MS);
	else if (strcmp(how, "serial") == 0 || strcmp(how, "shared") == 0)
		meets(how[1] == 'e' ? 1 : 100);
	else if (strcmp(how, "poll") == 0 || strcmp(how, "wait") == 0)
		looks(how[0] == 'p' ? 2 : -1);
	else if (strcmp(how, "storm") == 0 || strcmp(how, "few") == 0)
		calls(how[0] == 's' ? 300000 : 100);
	else if (strcmp(how, "uneven") == 0 || strcmp(how, "even") == 0)
		shares(how[0] == 'u' ? 500 : 50);
	else
		return 2;
	puts(how);
	return 0;
}
