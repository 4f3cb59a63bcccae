// SPDX-License-Identifier: MIT
// Threads fork while others record: fork_busy COUNT [THREADS]. By turns they use fork, _Fork and a bare
// clone. No child hangs, each has its trace, and the parent's threads are undisturbed. What only the test
// reads: how many calls the others made, and how many children had a session of their own while they
// recorded.
//
// build: -lcalls -D_GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define THREADS_MAX 16

static volatile int stop;
static long wanted;
static long *seen; // shared with the children
static long started;

static void *busy(void *calls)
{
	while (!stop) {
		outer(1);
		++*(long *)calls;
		usleep(100);
	}
	return NULL;
}

// Whether a session that bears our pid is mapped.
static int has_own_session(void)
{
	char name[64], line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");
	int found = 0;

	snprintf(name, sizeof(name), "/pftshim.%ld.", syscall(SYS_getpid));
	while (maps && fgets(line, sizeof(line), maps))
		found |= strstr(line, name) != NULL;
	if (maps)
		fclose(maps);
	return found;
}

static void be_child(long turn)
{
	leaf();
	if (turn % 3 != 0)
		_exit(3); // what others hold is held for ever: no stdio
	if (has_own_session())
		__atomic_add_fetch(seen, 1, __ATOMIC_SEQ_CST);
	exit(3);
}

static pid_t make_child(long turn)
{
	if (turn % 3 == 1)
		return _Fork();
	if (turn % 3 == 2)
		return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	return fork();
}

static void *forks(void *unused)
{
	long turn;

	while ((turn = __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST)) < wanted) {
		int status = 0;
		pid_t child = make_child(turn);

		MUST(child >= 0);
		if (child == 0)
			be_child(turn);
		MUST(waitpid(child, &status, 0) == child);
		MUST(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	}
	return unused;
}

int main(int argc, char **argv)
{
	long count = argument(argc, argv, 2, 1);
	long calls[2] = {0, 0};
	pthread_t others[2], forking[THREADS_MAX];
	FILE *side = side_open("side");

	MUST(count <= THREADS_MAX);
	wanted = argument(argc, argv, 1, 1000);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(seen != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		others[i] = thread_start(busy, &calls[i]);
	for (long i = 0; i < count; i++)
		forking[i] = thread_start(forks, NULL);
	for (long i = 0; i < count; i++)
		thread_join(forking[i]);
	stop = 1;
	for (int i = 0; i < 2; i++)
		thread_join(others[i]);
	fprintf(side, "%ld %ld\n", calls[0] + calls[1], *seen);
	fclose(side);
	printf("%ld children\n", wanted);
	return 0;
}
