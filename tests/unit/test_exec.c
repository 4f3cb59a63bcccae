// SPDX-License-Identifier: MIT
// exec and spawn: the program that comes gets what it was given, and the execution of who recorded; what was
// recorded is in the file by then.
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/hot/self.h"
#include "shim/process.h"
#include "tests/unit/recording.h"

TestSuite(exec, .fini = recording_clean);

#define SHELL "/bin/sh"
#define ENV "/usr/bin/env"

static char *with_preload[] = {"LD_PRELOAD=libc.so.6", "OTHER=value", NULL};
static char *without_preload[] = {"OTHER=value", NULL};
static char *with_execution[] = {"LD_PRELOAD=libc.so.6", "PFT_EXECUTION_ID=another", NULL};
static char *env_arguments[] = {"env", NULL};

static const struct pft_place place = {.execution = "the-execution"};

// What a child writes that executes a program.
static const char *output_of(void (*execute)(char **environment), char **environment)
{
	static char output[16384];
	size_t used = 0;
	ssize_t got;
	int ends[2];
	pid_t child;

	pft_exec_start(&place);
	cr_assert_eq(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		execute(environment);
		_exit(99);
	}
	close(ends[1]);
	while ((got = read(ends[0], output + used, sizeof(output) - 1 - used)) > 0)
		used += (size_t)got;
	close(ends[0]);
	output[used] = '\0';
	waitpid(child, NULL, 0);
	return output;
}

static bool has_line(const char *output, const char *line)
{
	const char *at = strstr(output, line);

	return at && (at == output || at[-1] == '\n') && at[strlen(line)] == '\n';
}

static void check_handed_on(void (*execute)(char **environment))
{
	const char *output = output_of(execute, with_preload);

	cr_assert(has_line(output, "PFT_EXECUTION_ID=the-execution"), "%s", output);
	cr_assert(has_line(output, "OTHER=value"));
	output = output_of(execute, without_preload);
	cr_assert(has_line(output, "OTHER=value"), "%s", output);
	cr_assert_null(strstr(output, "PFT_EXECUTION_ID"), "nobody there would record");
	output = output_of(execute, with_execution);
	cr_assert(has_line(output, "PFT_EXECUTION_ID=another"));
	cr_assert_null(strstr(output, "the-execution"), "the program says another");
}

// ---- every way --------------------------------------------------------------------------------------

static void by_execve(char **environment)
{
	execve(ENV, env_arguments, environment);
}

static void by_execvpe(char **environment)
{
	execvpe("env", env_arguments, environment);
}

static void by_fexecve(char **environment)
{
	fexecve(open(ENV, O_RDONLY | O_CLOEXEC), env_arguments, environment);
}

static void by_execveat(char **environment)
{
	execveat(open("/usr/bin", O_PATH | O_CLOEXEC), "env", env_arguments, environment, 0);
}

static void by_execv(char **environment)
{
	environ = environment;
	execv(ENV, env_arguments);
}

static void by_execvp(char **environment)
{
	environ = environment;
	execvp("env", env_arguments);
}

static void by_execl(char **environment)
{
	environ = environment;
	execl(ENV, "env", NULL);
}

static void by_execlp(char **environment)
{
	environ = environment;
	execlp("env", "env", NULL);
}

static void by_execle(char **environment)
{
	execle(ENV, "env", NULL, environment);
}

static void wait_for(int error, pid_t child)
{
	if (error == 0)
		waitpid(child, NULL, 0);
	_exit(error);
}

static void by_spawn(char **environment)
{
	pid_t child = 0;

	wait_for(posix_spawn(&child, ENV, NULL, NULL, env_arguments, environment), child);
}

static void by_spawnp(char **environment)
{
	pid_t child = 0;

	wait_for(posix_spawnp(&child, "env", NULL, NULL, env_arguments, environment), child);
}

Test(exec, hands_the_execution_on_by_every_way)
{
	void (*const ways[])(char **) = {by_execve, by_execvpe, by_fexecve, by_execveat, by_execv, by_execvp,
		by_execl, by_execlp, by_execle, by_spawn, by_spawnp};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		check_handed_on(ways[i]);
}

static void with_many_arguments(char **environment)
{
	environ = environment;
	execl(SHELL, "sh", "-c", "echo $# $1 $9 ${10} $0", "name", "1", "2", "3", "4", "5", "6", "7", "8",
		"9", "ten", "", NULL);
}

Test(exec, passes_every_argument_of_a_list)
{
	cr_assert_str_eq(output_of(with_many_arguments, without_preload), "11 1 9 ten name\n");
}

static void with_many_arguments_and_environment(char **environment)
{
	execle(SHELL, "sh", "-c", "echo $1 $OTHER", "name", "one", NULL, environment);
}

Test(exec, takes_the_environment_behind_the_list)
{
	cr_assert_str_eq(output_of(with_many_arguments_and_environment, without_preload), "one value\n");
}

// ---- what was recorded ------------------------------------------------------------------------------

Test(exec, that_fails_leaves_errno_and_goes_on_recording)
{
	struct pft_totals totals;
	uint32_t work;

	recording_make();
	work = recording_hook("work");
	recording_start();
	pft_exec_start(&recording_place);
	recording_calls(work, 10);
	errno = 0;
	cr_assert_eq(execve("/nowhere", env_arguments, without_preload), -1);
	cr_assert_eq(errno, ENOENT);
	cr_assert_eq(recording_slices("work"), 10, "it is all in the file");
	cr_assert_eq(pft_session->finished, 0);
	recording_calls(work, 10);
	cr_assert_eq(recording_finish(&totals), 0);
	cr_assert_eq(recording_slices("work"), 20);
}

static void record_and_execute(char **environment)
{
	uint32_t work;

	recording_make();
	work = recording_hook("work");
	recording_start();
	pft_exec_start(&recording_place);
	recording_calls(work, 10);
	printf("%s\n%s\n", recording_place.paths[PFT_FILE_TRACE], recording_place.session_link);
	fflush(stdout);
	execve("/bin/true", env_arguments, environment);
}

// The names of trace and link, of a process that is gone.
static void take_names(const char *output)
{
	cr_assert_eq(sscanf(output, "%1023s %1023s", recording_place.paths[PFT_FILE_TRACE],
			     recording_place.session_link),
		2);
}

Test(exec, leaves_everything_in_the_file_and_no_session)
{
	recording_directory();
	take_names(output_of(record_and_execute, without_preload));
	cr_assert_eq(recording_slices("work"), 10);
	cr_assert_neq(access(recording_place.session_link, F_OK), 0);
}

Test(exec, leaves_the_session_to_a_program_that_records)
{
	char shared[1024] = "";

	recording_directory();
	take_names(output_of(record_and_execute, with_preload));
	cr_assert_eq(recording_slices("work"), 10);
	cr_assert_gt(readlink(recording_place.session_link, shared, sizeof(shared) - 1), 0);
	cr_assert_eq(unlink(shared), 0);
}
