// SPDX-License-Identifier: MIT
// A child returns through calls that its parent began: out of them and to the end of main.
// build: -lcalls
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int splits(void *child)
{
	*(pid_t *)child = fork();
	leaf();
	return 0;
}

static int deeper(void *child)
{
	return through_again(splits, child);
}

int main(void)
{
	pid_t child;
	int status = 0, result = through(deeper, &child);

	leaf();
	if (child == 0)
		return result + 5;
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WEXITSTATUS(status));
	return result;
}
