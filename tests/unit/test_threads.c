// SPDX-License-Identifier: MIT
// Threads that pthread_create makes are recorded from their first instruction to the last destructor, and do
// not notice.
#define _GNU_SOURCE
#include "shim/threads.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "shim/hot/self.h"
#include "tests/unit/seated.h"

typedef void (*volatile function)(void);

static function hooked;

static void nothing(void)
{
}

static void start(void)
{
	seated_session(PFT_CLOCK_TSC, 16384);
	hooked = seated_hook(nothing);
	pft_threads_start();
}

static struct pft_session_thread *entry_of(uint32_t index)
{
	return pft_session_thread(pft_session, index);
}

static void *call_and_add(void *number)
{
	prctl(PR_SET_NAME, "adds");
	hooked();
	return (char *)number + 1;
}

static void *run(void *(*routine)(void *), const pthread_attr_t *attributes)
{
	pthread_t thread;
	void *answer;

	cr_assert_eq(pthread_create(&thread, attributes, routine, (void *)41), 0);
	cr_assert_eq(pthread_join(thread, &answer), 0);
	return answer;
}

Test(threads, main_one_sits_from_the_start)
{
	start();
	cr_assert_eq(entry_of(0)->state, PFT_THREAD_LIVE);
	cr_assert_eq(entry_of(0)->tid, (uint32_t)getpid());
	hooked();
	cr_assert_str_eq(seated_records_of(0), "+a -a", "on its native stack");
}

Test(threads, run_with_their_argument_and_answer_as_before)
{
	start();
	cr_assert_eq(run(call_and_add, NULL), (void *)42);
}

Test(threads, are_recorded_from_begin_to_end)
{
	start();
	run(call_and_add, NULL);
	cr_assert_str_eq(seated_records_of(1), "+a -a", "on its native stack");
	cr_assert_eq(entry_of(1)->state, PFT_THREAD_ENDED);
	cr_assert_str_eq(entry_of(1)->name, "adds");
	cr_assert_neq(entry_of(1)->tid, (uint32_t)getpid());
	cr_assert_null(seated_at(2));
}

// How large a stack has frame records while a thread of these attributes runs.
static size_t stack_of(const pthread_attr_t *attributes)
{
	run(call_and_add, attributes);
	cr_assert_str_eq(seated_records_of(1), "+a -a", "on its native stack");
	entry_of(1)->state = PFT_THREAD_FREE;
	return pft_self_seat(seated_at(1))->own_stack_bytes;
}

Test(threads, have_frame_records_for_the_stack_that_they_are_given)
{
	pthread_attr_t small, usual;
	size_t usual_bytes;

	start();
	pthread_attr_init(&small);
	cr_assert_eq(pthread_attr_setstacksize(&small, 256 << 10), 0);
	pthread_getattr_default_np(&usual);
	pthread_attr_getstacksize(&usual, &usual_bytes);
	cr_assert_eq(stack_of(&small), 256 << 10);
	cr_assert_eq(stack_of(NULL), usual_bytes);
	cr_assert_eq(stack_of(&small), 256 << 10, "the seat has more, the thread has not");
	pthread_attr_destroy(&small);
	pthread_attr_destroy(&usual);
}

Test(threads, that_cannot_be_made_leave_no_seat_taken)
{
	pthread_attr_t attributes;
	pthread_t thread;

	start();
	pthread_attr_init(&attributes);
	cr_assert_eq(pthread_attr_setstacksize(&attributes, SIZE_MAX / 4096), 0);
	cr_assert_neq(pthread_create(&thread, &attributes, call_and_add, NULL), 0);
	cr_assert_eq(entry_of(1)->state, PFT_THREAD_FREE);
	pthread_attr_destroy(&attributes);
}

Test(threads, run_unrecorded_when_recording_is_over)
{
	start();
	pft_recording_stop();
	cr_assert_eq(run(call_and_add, NULL), (void *)42);
	cr_assert_null(seated_at(1));
}

Test(threads, run_unrecorded_when_there_is_no_seat)
{
	start();
	while (pft_self_take(4096))
		;
	cr_assert_eq(run(call_and_add, NULL), (void *)42);
}

// ---- ends -------------------------------------------------------------------------------------------

static pthread_key_t key;

// Comes back as often as it may.
static void call_in_destructor(void *round)
{
	hooked();
	if ((uintptr_t)round < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(key, (char *)round + 1);
}

static void *leave_to_destructors(void *number)
{
	pthread_setspecific(key, (void *)1);
	return number;
}

Test(threads, are_recorded_in_every_round_of_destructors)
{
	pthread_key_create(&key, call_in_destructor);
	start();
	run(leave_to_destructors, NULL);
	cr_assert_str_eq(seated_records_of(1), "+a -a +a -a +a -a +a -a");
	cr_assert_eq(entry_of(1)->state, PFT_THREAD_ENDED);
	cr_assert_null(seated_at(2), "it was not seated anew");
}

static void *exits(void *number)
{
	hooked();
	pthread_exit((char *)number + 1);
}

Test(threads, end_by_pthread_exit)
{
	start();
	cr_assert_eq(run(exits, NULL), (void *)42);
	cr_assert_eq(entry_of(1)->state, PFT_THREAD_ENDED);
	cr_assert_str_eq(seated_records_of(1), "+a -a");
}

static void *waits_to_be_cancelled(void *number)
{
	hooked();
	for (;;)
		pause();
	return number;
}

Test(threads, end_by_cancellation)
{
	pthread_t thread;
	void *answer;

	start();
	pthread_create(&thread, NULL, waits_to_be_cancelled, NULL);
	pthread_cancel(thread);
	pthread_join(thread, &answer);
	cr_assert_eq(answer, PTHREAD_CANCELED);
	cr_assert_eq(entry_of(1)->state, PFT_THREAD_ENDED);
}
