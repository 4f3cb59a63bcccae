// SPDX-License-Identifier: MIT
// pthread_create, interposed so that a thread is recorded from its first instruction, with the bounds of its
// stack; and the end of a thread, by a thread-specific-data destructor that lets all others go first. App
// context.
#include "shim/threads.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/export.h"
#include "shim/hot/self.h"
#include "shim/next.h"

extern void *__libc_stack_end; // ld.so: the stack pointer that the program was started with

static pthread_key_t end_key;
static bool has_end_key;

// Destructors run in rounds as long as values are left (pthread_key_create(3)); ours goes in the last one, so
// that what other destructors call is recorded.
static void end_in_last_round(void *round)
{
	if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(end_key, (void *)((uintptr_t)round + 1));
	else
		pft_self_end();
}

static void watch_end(void)
{
	if (has_end_key)
		pthread_setspecific(end_key, (void *)(uintptr_t)1);
}

// glibc keeps the values of the first keys in the thread itself, and calls calloc for those behind
// (PTHREAD_KEY_2NDLEVEL_SIZE).
#define KEYS_IN_THREAD 32

// It gives out the lowest number that is free. The last one of these is ours, so that the program's first key
// is number 0, as ever: there are programs that take it for granted.
static void make_end_key(void)
{
	pthread_key_t lower[KEYS_IN_THREAD];
	unsigned count = 0;

	has_end_key = pthread_key_create(&end_key, end_in_last_round) == 0;
	while (has_end_key && end_key < KEYS_IN_THREAD - 1) {
		lower[count++] = end_key;
		has_end_key = pthread_key_create(&end_key, end_in_last_round) == 0;
	}
	while (count)
		pthread_key_delete(lower[--count]);
}

// glibc keeps the thread control block at the upper end of a thread's stack, the program's own included.
static uintptr_t stack_high(void)
{
	return (uintptr_t)pthread_self();
}

static void *run_thread(void *seat)
{
	struct pft_self *self = seat;
	void *(*start)(void *) = pft_self_seat(self)->start;
	void *argument = pft_self_seat(self)->argument;

	pft_self_begin(self, stack_high());
	watch_end();
	return start(argument);
}

static size_t stack_size(const pthread_attr_t *attributes)
{
	pthread_attr_t defaults;
	size_t size = 0;

	if (attributes) {
		pthread_attr_getstacksize(attributes, &size);
	} else if (pthread_getattr_default_np(&defaults) == 0) {
		pthread_attr_getstacksize(&defaults, &size);
		pthread_attr_destroy(&defaults);
	}
	return size;
}

// Same function for both of its versions (GLIBC_2.2.5, GLIBC_2.34): in glibc they are one function with two
// names, and a definition without versions satisfies references to either (ld.so, do_lookup_x).
PFT_EXPORT int pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		pft_next(PFT_NEXT_pthread_create);
	struct pft_self *seat = NULL;
	int error;

	if (pft_recording_is_on())
		seat = pft_self_take(stack_size(attributes));
	if (!seat)
		return next(thread, attributes, start, argument);
	pft_self_seat(seat)->start = start;
	pft_self_seat(seat)->argument = argument;
	error = next(thread, attributes, run_thread, seat);
	if (error)
		pft_self_give_back(seat);
	return error;
}

static size_t main_stack_size(void)
{
	const size_t usual = 8u << 20, most = 64u << 20;
	struct rlimit limit;

	if (pft_sys2(SYS_getrlimit, RLIMIT_STACK, &limit) < 0)
		return usual;
	return limit.rlim_cur < most ? limit.rlim_cur : most;
}

void pft_threads_start(void)
{
	struct pft_self *seat = pft_self_take(main_stack_size());

	make_end_key();
	if (!seat)
		return;
	pft_self_begin(seat, (uintptr_t)__libc_stack_end);
	watch_end();
}
