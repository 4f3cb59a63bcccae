// SPDX-License-Identifier: MIT
// A program that takes all its signals by sigwait in one thread gets each of them, and no other.
// build: -lcalls
#include <signal.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void *wait_for_all(void *unused)
{
	sigset_t all;
	int signal = 0;

	sigfillset(&all);
	while (signal != SIGTERM) {
		MUST(sigwait(&all, &signal) == 0);
		printf("signal %d\n", signal);
		outer(signal);
	}
	return unused;
}

int main(void)
{
	static const int sent[] = {
		SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGALRM, SIGCHLD, SIGPROF, SIGPIPE, SIGTERM};
	pthread_t waiter;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	waiter = thread_start(wait_for_all, NULL);
	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		for (int calls = 0; calls < 2000; calls++)
			leaf();
		kill(getpid(), sent[i]);
		usleep(20000);
	}
	thread_join(waiter);
	return 0;
}
