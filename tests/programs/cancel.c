// SPDX-License-Identifier: MIT
// pthread_cancel and pthread_exit unwind through hooked frames, and clean-up handlers run.
// build: -lcalls -fexceptions
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static pthread_barrier_t barrier;

static void clean_up(void *what)
{
	leaf();
	printf("cleaned up %s\n", (const char *)what);
}

static int waits(void *unused)
{
	pthread_barrier_wait(&barrier);
	while (pause() == -1)
		;
	return unused != NULL;
}

static int leaves(void *unused)
{
	(void)unused;
	pthread_exit((void *)7L);
}

static int waits_cleanly(void *context)
{
	int result;

	pthread_cleanup_push(clean_up, "after cancel");
	result = through_again(waits, context);
	pthread_cleanup_pop(0);
	return result;
}

static int leaves_cleanly(void *context)
{
	int result;

	pthread_cleanup_push(clean_up, "after exit");
	result = through_again(leaves, context);
	pthread_cleanup_pop(0);
	return result;
}

static void *cancelled(void *unused)
{
	through(waits_cleanly, NULL);
	return unused;
}

static void *left(void *unused)
{
	through(leaves_cleanly, NULL);
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *result;

	pthread_barrier_init(&barrier, NULL, 2);
	for (int i = 0; i < 100; i++) {
		thread = thread_start(cancelled, NULL);
		pthread_barrier_wait(&barrier);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		MUST(result == PTHREAD_CANCELED);
		thread = thread_start(left, NULL);
		pthread_join(thread, &result);
		MUST(result == (void *)7L);
	}
	return 0;
}
