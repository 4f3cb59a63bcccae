// SPDX-License-Identifier: MIT
// Calls when it is told to, so that what happens between two calls is the test's to decide. One command a
// line, each answered by "ok" when it is done, as is the start:
//   leaf N, outer N    so many calls
//   thread N           so many threads, one after the other, each with a leaf()
//   nap N              sleeps so many milliseconds inside through()
//   hold N             carries out the next N commands inside through(), and says "ok" before them as well
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int carry_out_next(void);

static void say_ok(void)
{
	printf("ok\n");
	fflush(stdout);
}

static int carry_out_some(void *count)
{
	say_ok();
	for (long i = 0; i < *(long *)count; i++)
		carry_out_next();
	return 0;
}

static int sleep_some(void *ms)
{
	usleep(1000 * *(long *)ms);
	return 0;
}

static void *call_once(void *unused)
{
	leaf();
	return unused;
}

static void carry_out(const char *word, long count)
{
	if (strcmp(word, "hold") == 0)
		through(carry_out_some, &count);
	else if (strcmp(word, "nap") == 0)
		through(sleep_some, &count);
	else if (strcmp(word, "leaf") == 0)
		while (count--)
			leaf();
	else if (strcmp(word, "outer") == 0)
		while (count--)
			outer(1);
	else if (strcmp(word, "thread") == 0)
		while (count--)
			thread_join(thread_start(call_once, NULL));
	else
		MUST(!"a command");
}

static int carry_out_next(void)
{
	char word[16];
	long count;

	if (scanf("%15s %ld", word, &count) != 2)
		return 0;
	carry_out(word, count);
	say_ok();
	return 1;
}

int main(void)
{
	say_ok();
	while (carry_out_next())
		;
	return 0;
}
