// SPDX-License-Identifier: MIT
// Keys of thread-specific data have the numbers that they always have, and destructors their order.
#include "tests/programs/common.h"

static pthread_key_t keys[40];

static void say(void *value)
{
	printf("destroyed: %ld\n", (long)(intptr_t)value);
}

static void *fill(void *unused)
{
	for (long i = 0; i < 40; i++)
		MUST(pthread_setspecific(keys[i], (void *)(intptr_t)(i + 1)) == 0);
	return unused;
}

int main(void)
{
	for (int i = 0; i < 40; i++)
		MUST(pthread_key_create(&keys[i], say) == 0);
	for (int i = 0; i < 30; i++)
		printf("key: %u\n", keys[i]);
	thread_join(thread_start(fill, NULL));
	return 0;
}
