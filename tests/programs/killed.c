// SPDX-License-Identifier: MIT
// Threads call without end and count as they go, in memory that outlives a kill: killed [THREADS [BURST]]. A
// count is raised between any two events, so that whoever finds it at n knows: n - 1 events are recorded, and
// the next one may be. Every thread makes the same eight events over and over:
//
//   through( through_again( through_third() through_third() ) )
//
// After BURST of these it naps; every sixteenth takes two milliseconds. With 0 for BURST it does neither. END
// says what ends the process after a while: a thread that calls exit, or a signal handler that calls _exit.
// Else somebody kills it. With "coroutines" for END the threads do all that on stacks that are not their own.
//
// build: -lcalls
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define THREADS_MAX 16

struct count {
	uint64_t tid;
	volatile uint64_t points; // passed
	volatile uint64_t slow; // cycles of which the slow part is over
	char rest[40];
};

static struct count *counts;
static long burst;

static void point(struct count *count)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	count->points++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static int innermost(void *of)
{
	point(of);
	return 0;
}

static int twice(void *of)
{
	struct count *count = of;

	point(count);
	through_third(innermost, count);
	point(count);
	through_third(innermost, count);
	point(count);
	return 0;
}

static int once(void *of)
{
	struct count *count = of;
	bool slow = burst && (count->points + 1) / 8 % 16 == 15;

	point(count);
	if (slow)
		usleep(2000);
	through_again(twice, count);
	count->slow += slow; // a later event shows how long `through` is open already
	point(count);
	return 0;
}

static void *call(void *of)
{
	struct count *count = of;

	count->tid = (uint64_t)gettid();
	for (long cycle = 1;; cycle++) {
		point(count);
		through(once, count);
		if (burst && cycle % burst == 0)
			usleep(200);
	}
	return NULL;
}

static void call_here(unsigned index)
{
	call(&counts[index]);
}

// Never comes back.
static void *call_on_another_stack(void *of)
{
	static char stacks[THREADS_MAX][65536];
	static ucontext_t coroutines[THREADS_MAX];
	unsigned index = (unsigned)((struct count *)of - counts);

	getcontext(&coroutines[index]);
	coroutines[index].uc_stack.ss_sp = stacks[index];
	coroutines[index].uc_stack.ss_size = sizeof(stacks[index]);
	makecontext(&coroutines[index], (void (*)(void))call_here, 1, index);
	setcontext(&coroutines[index]);
	return NULL;
}

static void map_counts(void)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/counts", getenv("TEST_DIRECTORY"));
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	MUST(fd >= 0 && ftruncate(fd, THREADS_MAX * sizeof(struct count)) == 0);
	counts = mmap(NULL, THREADS_MAX * sizeof(struct count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(counts != MAP_FAILED);
	close(fd);
}

static void *exit_from_here(void *unused)
{
	usleep(30000);
	exit((int)(intptr_t)unused);
}

static void exit_at_once(int signal)
{
	_exit(signal == SIGALRM ? 0 : 1);
}

static void end_by(const char *way)
{
	const struct itimerval soon = {.it_value = {0, 30000}};

	if (strcmp(way, "exit") == 0)
		pthread_detach(thread_start(exit_from_here, NULL));
	if (strcmp(way, "_exit") == 0) {
		signal(SIGALRM, exit_at_once);
		setitimer(ITIMER_REAL, &soon, NULL);
	}
}

int main(int argc, char **argv)
{
	long threads = argument(argc, argv, 1, 2);
	void *(*body)(void *) = call;

	burst = argument(argc, argv, 2, 16);
	MUST(threads >= 1 && threads <= THREADS_MAX && burst >= 0);
	map_counts();
	end_by(argc > 3 ? argv[3] : "");
	if (argc > 3 && strcmp(argv[3], "coroutines") == 0)
		body = call_on_another_stack;
	for (long i = 1; i < threads; i++)
		pthread_detach(thread_start(body, &counts[i]));
	body(&counts[0]);
	return 0;
}
