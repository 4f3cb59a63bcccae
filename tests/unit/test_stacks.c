// SPDX-License-Identifier: MIT
// Unit tests of shim/hot/stacks.c: the tree of frames that all threads grow. Run by Criterion.
#include "shim/hot/stacks.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "shim/hot/clock.h"
#include "shim/hot/self.h"
#include "tests/unit/fake_session.h"

#define THREADS 4
#define DEPTH 300

static void set_up(void)
{
	pft_session = pft_fake_session(4096, 2);
}

TestSuite(stacks, .init = set_up);

Test(stacks, have_one_number_each)
{
	uint32_t outer = pft_stacks_add(0x1000, 0), inner = pft_stacks_add(0x2000, outer);

	cr_assert_eq(outer, 1);
	cr_assert_eq(inner, 2);
	cr_assert_eq(pft_stacks_add(0x1000, 0), outer);
	cr_assert_eq(pft_stacks_add(0x2000, outer), inner);
	cr_assert_eq(pft_session->frames, 3);
}

Test(stacks, are_told_apart_by_code_and_by_caller)
{
	uint32_t a = pft_stacks_add(0x1000, 0), b = pft_stacks_add(0x2000, 0);
	uint32_t of_a = pft_stacks_add(0x3000, a), of_b = pft_stacks_add(0x3000, b);

	cr_assert_neq(a, b);
	cr_assert_neq(of_a, of_b);
	cr_assert_eq(pft_session_frame(pft_session, of_a)->caller, a);
	cr_assert_eq(pft_session_frame(pft_session, of_b)->caller, b);
	cr_assert_eq(pft_session_frame(pft_session, of_b)->code, 0x3000);
}

Test(stacks, end_where_there_is_no_room)
{
	uint32_t number = 0, known;

	pft_session->frames_max = 100;
	for (uint64_t i = 1; i < 100; i++)
		cr_assert_eq(number = pft_stacks_add(i << 4, number), i);
	known = pft_session_frame(pft_session, number)->caller;
	cr_assert_eq(pft_stacks_add(0x5000, number), 0);
	cr_assert_eq(pft_session->frames, 100);
	cr_assert_eq(pft_stacks_add(99 << 4, known), number, "what is there is found");
}

// Every thread adds the same stacks, so each frame has been met by all.
static void *add_all(void *numbers)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < DEPTH; i++)
		((uint32_t *)numbers)[i] = number = pft_stacks_add(0x1000 + i % 7, number);
	return NULL;
}

Test(stacks, are_the_same_for_all_threads)
{
	static uint32_t numbers[THREADS][DEPTH];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, add_all, numbers[i]), 0);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	for (int i = 1; i < THREADS; i++)
		cr_assert_eq(memcmp(numbers[i], numbers[0], sizeof numbers[0]), 0);
	for (uint32_t i = 0; i < DEPTH; i++) {
		const struct pft_session_frame *frame = pft_session_frame(pft_session, numbers[0][i]);

		cr_assert_eq(frame->code, 0x1000 + i % 7);
		cr_assert_eq(frame->caller, i ? numbers[0][i - 1] : 0);
		cr_assert_lt(frame->caller, numbers[0][i]);
	}
}

Test(stacks, are_wanted_by_the_hooks_that_were_named)
{
	cr_assert_not(pft_stacks_on());
	pft_stacks_want(77);
	cr_assert_not(pft_stacks_at_begin(77), "not before it is asked for");
	pft_stacks_start(0);
	cr_assert(pft_stacks_at_begin(77));
	cr_assert_not(pft_stacks_at_begin(76));
	cr_assert_not(pft_stacks_at_begin(78));
	cr_assert_not(pft_stacks_at_end());
}

Test(stacks, are_wanted_of_calls_that_took_long)
{
	const struct timespec nap = {0, 3000000};
	uint64_t began;

	pft_clock_start(PFT_CLOCK_TSC, NULL);
	pft_stacks_start(2000000);
	nanosleep(&nap, NULL);
	began = pft_clock_ticks();
	cr_assert(pft_stacks_at_end());
	cr_assert_not(pft_stacks_at_begin(77));
	cr_assert_not(pft_stacks_took_long(pft_clock_ticks()));
	nanosleep(&nap, NULL);
	cr_assert(pft_stacks_took_long(began));
}
