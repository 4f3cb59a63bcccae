// SPDX-License-Identifier: MIT
// Runs the tests that criterion/criterion.h beside this file has registered, each in a child process.
// Prints "ok - suite::name" and "not ok - suite::name"; exits 1 when one failed, or when there was none.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/wait.h>

static struct plain_test *tests;
static struct plain_suite *suites;

void plain_add(struct plain_test *test)
{
	test->next = tests;
	tests = test;
}

void plain_add_suite(struct plain_suite *suite)
{
	suite->next = suites;
	suites = suite;
}

// The test's own, and the suite's where it has none.
static struct plain_options options_of(const struct plain_test *test)
{
	struct plain_options options = test->options;

	for (const struct plain_suite *suite = suites; suite; suite = suite->next) {
		if (strcmp(suite->name, test->suite) != 0)
			continue;
		options.timeout = options.timeout > 0 ? options.timeout : suite->options.timeout;
		options.init = options.init ? options.init : suite->options.init;
		options.fini = options.fini ? options.fini : suite->options.fini;
	}
	return options;
}

static void child_run(const struct plain_test *test)
{
	struct plain_options options = options_of(test);

	if (options.timeout > 0)
		alarm((unsigned)options.timeout + 1);
	if (options.init)
		options.init();
	test->run();
	if (options.fini)
		options.fini();
	exit(0); // not _exit: the sanitizer tells of what it found in its own handler
}

static int child_wait(const struct plain_test *test)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		child_run(test);
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("  ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == PLAIN_SKIPPED);
}

int main(void)
{
	int passed = 0, failed = 0;

	for (const struct plain_test *test = tests; test; test = test->next) {
		int good = child_wait(test);

		printf("%s - %s::%s\n", good ? "ok" : "not ok", test->suite, test->name);
		passed += good;
		failed += !good;
	}
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0 || passed == 0;
}
