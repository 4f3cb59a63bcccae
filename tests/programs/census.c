// SPDX-License-Identifier: MIT
// A program that has one thread, as far as it can see, and looks in every way that it knows, among calls that
// are recorded; then it is refused by nobody.
//
// build: -lcalls
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void say(const char *what, int result, const struct stat *found)
{
	printf("%s: %d, %lu links\n", what, result, result == 0 ? (unsigned long)found->st_nlink : 0);
}

int main(void)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	struct stat found;

	for (int i = 0; i < 3; i++) {
		leaf();
		say("fstatat", fstatat(proc, "self/task/", &found, 0), &found);
		leaf();
		say("stat", stat("/proc/self/task", &found), &found);
		say("stat of a file", stat("/proc/self/stat", &found), &found);
		say("stat of what there is not", stat("/nowhere/self/task", &found), &found);
		printf("%d\n", errno);
		say("stat of no path", stat((const char *)1, &found), &found);
		printf("%d\n", errno);
	}
	return 0;
}
