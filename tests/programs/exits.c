// SPDX-License-Identifier: MIT
// Whichever way a process ends, inside nested hooked calls or not, it ends as without the shim.
// build: -lcalls
#include <signal.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static const char *way;

static void *hot(void *unused)
{
	while (outer(1))
		;
	return unused;
}

static void *exit_from_here(void *unused)
{
	(void)unused;
	leaf();
	exit(16);
}

static int end(void *unused)
{
	leaf();
	if (strcmp(way, "exit") == 0)
		exit(11);
	if (strcmp(way, "_exit") == 0)
		_exit(12);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(13);
	if (strcmp(way, "abort") == 0)
		abort();
	if (strcmp(way, "segv") == 0)
		*(volatile int *)unused = 0;
	if (strcmp(way, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(way, "term") == 0)
		raise(SIGTERM);
	if (strcmp(way, "pthread_exit") == 0)
		pthread_exit(NULL);
	if (strcmp(way, "thread") == 0)
		thread_join(thread_start(exit_from_here, NULL));
	return 14;
}

static int nested(void *unused)
{
	return through_again(end, unused);
}

static void at_exit(void)
{
	leaf();
	puts("at exit");
}

static void at_quick_exit_do(void)
{
	leaf();
	puts("at quick exit");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	way = argc > 1 ? argv[1] : "return";
	atexit(at_exit);
	at_quick_exit(at_quick_exit_do);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(way, "detached") == 0) {
		for (int i = 0; i < 3; i++)
			pthread_detach(thread_start(hot, NULL));
		usleep(20000);
	}
	return through(nested, NULL);
}
