// SPDX-License-Identifier: MIT
// A program that changes directory and gives its privileges up is recorded to its end all the same.
// build: -lcalls -D_GNU_SOURCE
#include <grp.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static volatile int stop;

static void *works(void *unused)
{
	while (!stop) {
		outer(1);
		usleep(1000);
	}
	return unused;
}

static void call(int times)
{
	for (int i = 0; i < times; i++)
		leaf();
	usleep(120000);
}

int main(void)
{
	pthread_t worker = thread_start(works, NULL);

	call(100);
	MUST(chdir("/") == 0);
	call(100);
	if (getuid() == 0) {
		MUST(setgroups(0, NULL) == 0);
		MUST(setresgid(65534, 65534, 65534) == 0);
		MUST(setresuid(65534, 65534, 65534) == 0);
		MUST(setuid(0) == -1);
	}
	call(100);
	stop = 1;
	thread_join(worker);
	puts("given up");
	return 0;
}
