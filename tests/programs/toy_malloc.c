// SPDX-License-Identifier: MIT
// The program's own allocator calls hooked functions while it holds its plain lock, before main too.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char heap[64 << 20];
static size_t used;

void *malloc(size_t bytes)
{
	char *memory;

	pthread_mutex_lock(&lock);
	leaf();
	memory = heap + used;
	used += (bytes + 31) / 16 * 16;
	pthread_mutex_unlock(&lock);
	if (used > sizeof(heap))
		return NULL;
	*(size_t *)memory = bytes;
	return memory + 16;
}

void free(void *memory)
{
	(void)memory;
	pthread_mutex_lock(&lock);
	outer(1);
	pthread_mutex_unlock(&lock);
}

void *calloc(size_t count, size_t bytes)
{
	void *memory = malloc(count * bytes);

	return memory ? memset(memory, 0, count * bytes) : NULL;
}

void *realloc(void *old, size_t bytes)
{
	void *memory = malloc(bytes);
	size_t had = old ? ((size_t *)old)[-2] : 0;

	return memory ? memcpy(memory, old ? old : memory, had < bytes ? had : bytes) : NULL;
}

static void *body(void *unused)
{
	void *volatile memory; // or the compiler leaves both calls out

	for (int i = 0; i < 5000; i++) {
		memory = malloc(i % 300);
		free(memory);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		threads[i] = thread_start(body, NULL);
	for (int i = 0; i < 4; i++)
		thread_join(threads[i]);
	puts("done");
	return 0;
}
