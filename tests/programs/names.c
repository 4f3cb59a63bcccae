// SPDX-License-Identifier: MIT
// Each thread has its own track under the name that the program gave it, whichever way it did.
// build: -D_GNU_SOURCE -lcalls
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static pthread_barrier_t barrier;
static FILE *side;

static void say_and_call(const char *name, int calls)
{
	fprintf(side, "%ld %s %d\n", syscall(SYS_gettid), name, calls);
	for (int i = 0; i < calls; i++)
		leaf();
}

static void *named_from_inside(void *unused)
{
	pthread_setname_np(pthread_self(), "from inside");
	say_and_call("from inside", 10);
	return unused;
}

static void *named_by_prctl(void *unused)
{
	prctl(PR_SET_NAME, "by prctl");
	say_and_call("by prctl", 20);
	return unused;
}

static void *named_from_outside(void *unused)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	say_and_call("from outside", 30);
	return unused;
}

static void *renamed(void *unused)
{
	pthread_setname_np(pthread_self(), "first name");
	inner(0);
	pthread_setname_np(pthread_self(), "last name");
	say_and_call("last name", 40);
	return unused;
}

static void *odd_name(void *unused)
{
	pthread_setname_np(pthread_self(), "a\"b\\c\t\xff%s");
	leaf();
	return unused;
}

int main(void)
{
	pthread_t threads[5];

	side = side_open("names");
	pthread_barrier_init(&barrier, NULL, 2);
	threads[0] = thread_start(named_from_inside, NULL);
	threads[1] = thread_start(named_by_prctl, NULL);
	threads[2] = thread_start(named_from_outside, NULL);
	threads[3] = thread_start(renamed, NULL);
	threads[4] = thread_start(odd_name, NULL);
	pthread_barrier_wait(&barrier);
	pthread_setname_np(threads[2], "from outside");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 5; i++)
		thread_join(threads[i]);
	fclose(side);
	return 0;
}
