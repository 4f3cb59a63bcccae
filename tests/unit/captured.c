// SPDX-License-Identifier: MIT
// Captures descriptor 2 in a pipe. Called by tests only, from one thread.
#include "tests/unit/captured.h"

#include <criterion/criterion.h>
#include <unistd.h>

static int captured_pipe[2], captured_stderr;
static char captured_text[65536];

void captured_start(void)
{
	cr_assert_eq(pipe(captured_pipe), 0);
	captured_stderr = dup(2);
	cr_assert_eq(dup2(captured_pipe[1], 2), 2);
	close(captured_pipe[1]);
}

const char *captured_stop(void)
{
	size_t used = 0;
	ssize_t got;

	dup2(captured_stderr, 2);
	close(captured_stderr);
	while ((got = read(captured_pipe[0], captured_text + used, sizeof(captured_text) - 1 - used)) > 0)
		used += (size_t)got;
	close(captured_pipe[0]);
	captured_text[used] = '\0';
	return captured_text;
}
