// SPDX-License-Identifier: MIT
// A collector of one object, which looks for its address in registers and on the stack, and wipes it when it
// finds none.
// build: -D_GNU_SOURCE
#include "tests/programs/collects.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static char object[16];

uintptr_t collects_hidden(void)
{
	strcpy(object, "kept");
	return ~(uintptr_t)object;
}

static __attribute__((noinline)) bool is_on_stack(uintptr_t wanted)
{
	const uintptr_t *at = __builtin_frame_address(0), *high;
	pthread_attr_t attributes;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attributes);
	pthread_attr_getstack(&attributes, &low, &size);
	pthread_attr_destroy(&attributes);
	high = (const uintptr_t *)((char *)low + size);
	for (; at < high; at++)
		if ((*at ^ wanted) == ~(uintptr_t)0)
			return true;
	return false;
}

// The address is looked for in its hidden form, or looking would put it on the stack.
void GC_gcollect(void)
{
	__builtin_unwind_init(); // pushes the registers that a callee must save
	if (!is_on_stack(collects_hidden()))
		memset(object, 0, sizeof(object));
}
