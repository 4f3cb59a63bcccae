// SPDX-License-Identifier: MIT
// Other programs are started in every way there is, and an exec that fails leaves everything as it was.
// build: -lcalls
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

extern char **environ;

static int status_of(pid_t child)
{
	int status = 0;

	MUST(waitpid(child, &status, 0) == child);
	return WEXITSTATUS(status);
}

static void by_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "echo vfork; exit 3", NULL);
		_exit(127);
	}
	printf("vfork %d\n", status_of(child));
}

static void by_posix_spawn(void)
{
	char *words[] = {"sh", "-c", "echo posix_spawn; exit 4", NULL};
	pid_t child;

	MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0);
	printf("posix_spawn %d\n", status_of(child));
}

static void by_popen(void)
{
	char line[64] = "";
	FILE *pipe = popen("echo popen; exit 5", "r");

	MUST(pipe && fgets(line, sizeof(line), pipe));
	printf("%s%d\n", line, WEXITSTATUS(pclose(pipe)));
}

static void by_fork_and_clean_environment(void)
{
	char *none[] = {NULL}, *words[] = {"sh", "-c", "echo clean; exit 6", NULL};
	pid_t child = fork();

	if (child == 0) {
		execve("/bin/sh", words, none);
		_exit(127);
	}
	printf("clean %d\n", status_of(child));
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	leaf();
	by_vfork();
	by_posix_spawn();
	by_popen();
	by_fork_and_clean_environment();
	printf("system %d\n", WEXITSTATUS(system("echo system; exit 7")));
	MUST(execl("/nonexistent", "nonexistent", NULL) == -1 && errno == ENOENT);
	leaf();
	if (argc == 1)
		execl("/proc/self/exe", argv[0], "again", NULL);
	return outer(5);
}
