// SPDX-License-Identifier: MIT
// A thread with the smallest stack that is allowed starts, records and ends.
// build: -lcalls
#include <limits.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void *body(void *unused)
{
	for (int i = 0; i < 1000; i++)
		outer(i);
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	MUST(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
	for (int i = 0; i < 20; i++) {
		MUST(pthread_create(&thread, &attributes, body, NULL) == 0);
		thread_join(thread);
	}
	puts("all started");
	return 0;
}
