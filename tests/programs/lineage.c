// SPDX-License-Identifier: MIT
// A process comes from another one in the way that is asked for, and both call leaf(): lineage WAY. Who is
// executed is this program again. Without a way it is the child, and calls leaf() alone.
//
//   fork, _Fork, clone     a child by that call, clone as a bare system call
//   threaded               a child by clone whose first doing is to start a thread, which calls leaf() as
//   well chain                  children of children, five deep, by _Fork vfork, posix_spawn, system, popen
//   another program exec                   this process goes on as another program, behind an exec that fails
//   bare                   likewise, with an environment of nothing but LD_PRELOAD and where traces go
// build: -lcalls -D_GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

extern char **environ;

static char *own_path;

static void await(pid_t child)
{
	int status = 0;

	MUST(child > 0 && waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// A child of these calls may do little; what it does is recorded all the same.
static void be_child(void)
{
	leaf();
	_exit(0);
}

static void by_fork(void)
{
	pid_t child = fork();

	if (child == 0)
		be_child();
	await(child);
}

static void by_bare_fork(void)
{
	pid_t child = _Fork();

	if (child == 0)
		be_child();
	await(child);
}

static void by_clone(void)
{
	long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0)
		be_child();
	await((pid_t)child);
}

static void *call_once(void *unused)
{
	leaf();
	return unused;
}

static void by_clone_that_starts_a_thread(void)
{
	long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

	if (child == 0) {
		pthread_t thread = thread_start(call_once, NULL);

		leaf();
		thread_join(thread);
		be_child();
	}
	await((pid_t)child);
}

static void by_chain(void)
{
	for (int depth = 0; depth < 5; depth++) {
		pid_t child = _Fork();

		if (child != 0) {
			await(child);
			if (depth == 0)
				return;
			_exit(0);
		}
		leaf();
	}
	_exit(0);
}

static void by_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		execl(own_path, own_path, NULL);
		_exit(127);
	}
	await(child);
}

static void by_posix_spawn(void)
{
	char *words[] = {own_path, NULL};
	pid_t child;

	MUST(posix_spawn(&child, own_path, NULL, NULL, words, environ) == 0);
	await(child);
}

static void by_system(void)
{
	MUST(system(own_path) == 0);
}

static void by_popen(void)
{
	FILE *pipe = popen(own_path, "r");
	char line[64] = "";

	MUST(pipe && fgets(line, sizeof(line), pipe));
	fputs(line, stdout);
	MUST(pclose(pipe) == 0);
}

static void by_exec(void)
{
	MUST(execl("/nonexistent", "nonexistent", NULL) == -1 && errno == ENOENT);
	leaf();
	fflush(stdout);
	execl(own_path, own_path, NULL);
	MUST(!"executed");
}

static void by_bare_exec(void)
{
	static const char *const kept[] = {
		"LD_PRELOAD=", "LD_LIBRARY_PATH=", "PFT_TRACE_DIR=", "PFT_FUNCS=", "PFT_PROCESSES="};
	char *words[] = {own_path, NULL}, *environment[8];
	size_t count = 0;

	for (char **entry = environ; *entry; entry++)
		for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
			if (strncmp(*entry, kept[i], strlen(kept[i])) == 0)
				environment[count++] = *entry;
	environment[count] = NULL;
	fflush(stdout);
	execve(own_path, words, environment);
	MUST(!"executed");
}

static const struct {
	const char *name;
	void (*go)(void);
} ways[] = {
	{"fork", by_fork},
	{"_Fork", by_bare_fork},
	{"clone", by_clone},
	{"threaded", by_clone_that_starts_a_thread},
	{"chain", by_chain},
	{"vfork", by_vfork},
	{"posix_spawn", by_posix_spawn},
	{"system", by_system},
	{"popen", by_popen},
	{"exec", by_exec},
	{"bare", by_bare_exec},
};

int main(int argc, char **argv)
{
	own_path = argv[0];
	leaf();
	puts(argc > 1 ? "first" : "child");
	fflush(stdout);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(argv[1], ways[i].name) == 0)
			ways[i].go();
	return 0;
}
