// SPDX-License-Identifier: MIT
// Three threads take coroutines from each other in the middle of hooked calls, and go on with them; their
// stacks lie side by side: stealers COROUTINES [64] STACK_BYTES [16384] ROUNDS [8].
// build: -lcalls
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define THREADS 3

struct coroutine {
	ucontext_t inside;
	ucontext_t *outside; // of the thread that runs it
	struct coroutine *next;
	long sum;
	bool done;
};

static struct coroutine *coroutines, *first, **last = &first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left, rounds;

static int leaves(void *of)
{
	struct coroutine *me = of;

	for (int i = 0; i < rounds; i++) {
		me->sum += outer(i);
		swapcontext(&me->inside, me->outside);
	}
	return 0;
}

static int goes_deeper(void *of)
{
	return through_again(leaves, of);
}

static void body(int number)
{
	struct coroutine *me = &coroutines[number];

	through(goes_deeper, me);
	me->done = true;
	swapcontext(&me->inside, me->outside);
}

static void put(struct coroutine *coroutine)
{
	pthread_mutex_lock(&lock);
	if (coroutine->done) {
		left--;
	} else {
		coroutine->next = NULL;
		*last = coroutine;
		last = &coroutine->next;
	}
	pthread_mutex_unlock(&lock);
}

// NULL when there is none now.
static struct coroutine *take(bool *all_done)
{
	struct coroutine *taken;

	pthread_mutex_lock(&lock);
	taken = first;
	if (taken != NULL)
		first = taken->next;
	if (first == NULL)
		last = &first;
	*all_done = left == 0;
	pthread_mutex_unlock(&lock);
	return taken;
}

static void *work(void *unused)
{
	ucontext_t here;
	bool all_done = false;

	while (!all_done) {
		struct coroutine *coroutine = take(&all_done);

		if (coroutine == NULL)
			continue;
		coroutine->outside = &here;
		swapcontext(&here, &coroutine->inside);
		put(coroutine);
	}
	return unused;
}

static void make(int number, char *stacks, size_t bytes)
{
	struct coroutine *coroutine = &coroutines[number];

	getcontext(&coroutine->inside);
	coroutine->inside.uc_stack.ss_sp = stacks + (size_t)number * bytes;
	coroutine->inside.uc_stack.ss_size = bytes;
	makecontext(&coroutine->inside, (void (*)(void))body, 1, number);
	put(coroutine);
}

int main(int argc, char **argv)
{
	int count = (int)argument(argc, argv, 1, 64);
	size_t bytes = (size_t)argument(argc, argv, 2, 16384);
	pthread_t threads[THREADS];
	char *stacks;
	long sum = 0;

	left = count;
	rounds = argument(argc, argv, 3, 8);
	coroutines = calloc((size_t)count, sizeof *coroutines);
	stacks = aligned_alloc(4096, (size_t)count * bytes);
	for (int i = 0; i < count; i++)
		make(i, stacks, bytes);
	for (int i = 0; i < THREADS; i++)
		threads[i] = thread_start(work, NULL);
	for (int i = 0; i < THREADS; i++)
		thread_join(threads[i]);
	for (int i = 0; i < count; i++)
		sum += coroutines[i].sum;
	printf("%d coroutines, sum %ld\n", count, sum);
	return 0;
}
