// SPDX-License-Identifier: MIT
// A library whose constructor starts a thread and waits for it.
#include <pthread.h>

#include "tests/programs/calls.h"

int early_calls;

static void *body(void *unused)
{
	for (int i = 0; i < 1000; i++)
		leaf();
	early_calls = 1000;
	return unused;
}

__attribute__((constructor)) static void start(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) == 0)
		pthread_join(thread, NULL);
}
