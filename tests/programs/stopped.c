// SPDX-License-Identifier: MIT
// Stopped and continued in the middle of recording, a program loses nothing.
// build: -lcalls
#include <signal.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int works(void)
{
	for (int i = 0; i < 50; i++) {
		for (int calls = 0; calls < 100; calls++)
			leaf();
		usleep(1000);
	}
	return 9;
}

int main(void)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0)
		return works();
	for (int i = 0; i < 10; i++) {
		usleep(3000);
		kill(child, SIGSTOP);
		usleep(3000);
		kill(child, SIGCONT);
	}
	MUST(waitpid(child, &status, 0) == child);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}
