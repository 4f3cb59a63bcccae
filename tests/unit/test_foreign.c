// SPDX-License-Identifier: MIT
// The table of frame records on foreign stacks: one for each slot, for ever, whoever asks.
#include "shim/hot/foreign.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/unit/stepped.h"

#define SLOTS 100000
#define THREADS 4

static struct pft_frame **frames;

static uintptr_t slot_of(size_t i)
{
	return UINT64_C(0x7f1000000008) + 16 * i;
}

Test(foreign, record_of_a_slot_is_the_same_every_time)
{
	struct pft_frame *first = pft_foreign_frame(slot_of(0));
	struct pft_frame *second = pft_foreign_frame(slot_of(1));

	cr_assert_not_null(first);
	cr_assert_neq(first, second);
	cr_assert_eq(first->slot, slot_of(0));
	cr_assert_eq(second->slot, slot_of(1));
	cr_assert_eq(pft_foreign_frame(slot_of(0)), first);
	cr_assert_eq(pft_foreign_frame(slot_of(1)), second);
}

Test(foreign, new_record_says_that_no_call_is_open)
{
	const struct pft_frame *frame = pft_foreign_frame(slot_of(0));

	cr_assert_eq(frame->what, 0);
	cr_assert_eq(frame->outer, 0);
}

static int by_address(const void *left, const void *right)
{
	const struct pft_frame *a = *(struct pft_frame *const *)left, *b = *(struct pft_frame *const *)right;

	return (a > b) - (a < b);
}

static void check_apart(size_t count)
{
	qsort(frames, count, sizeof(*frames), by_address);
	for (size_t i = 1; i < count; i++)
		cr_assert_geq((char *)frames[i] - (char *)frames[i - 1], (long)sizeof(struct pft_frame));
}

Test(foreign, records_of_many_slots_are_apart)
{
	frames = calloc(SLOTS, sizeof(*frames));
	for (size_t i = 0; i < SLOTS; i++) {
		frames[i] = pft_foreign_frame(slot_of(i));
		cr_assert_not_null(frames[i]);
		frames[i]->what = (uint32_t)i;
	}
	for (size_t i = 0; i < SLOTS; i++)
		cr_assert_eq(pft_foreign_frame(slot_of(i))->what, i);
	check_apart(SLOTS);
	free(frames);
}

// A stack is run by one thread at a time: each asks for slots of its own.
static void *ask_for_every_fourth(void *first)
{
	for (size_t i = (uintptr_t)first; i < SLOTS; i += THREADS)
		frames[i] = pft_foreign_frame(slot_of(i));
	return NULL;
}

Test(foreign, records_that_threads_ask_for_at_once_are_apart)
{
	pthread_t threads[THREADS];

	frames = calloc(SLOTS, sizeof(*frames));
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, ask_for_every_fourth, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < SLOTS; i++)
		cr_assert_eq(frames[i], pft_foreign_frame(slot_of(i)));
	check_apart(SLOTS);
	free(frames);
}

// Slots of one chain are hard to come by, but a handler that inserts between any two instructions meets with
// everything that an insertion does.
static size_t asked;
static struct pft_frame *found_by_handler;

static void ask(void)
{
	frames[0] = pft_foreign_frame(slot_of(asked));
}

static void ask_in_handler(void)
{
	found_by_handler = pft_foreign_frame(slot_of(asked + 1));
}

Test(foreign, record_may_be_made_while_another_is_made)
{
	struct pft_frame *frame;
	unsigned steps;

	frames = &frame;
	ask();
	asked = 2;
	steps = stepped_all(ask, NULL);
	for (unsigned at = 0; at < steps; at++) {
		asked += 2;
		if (!stepped_at(at, ask, ask_in_handler))
			continue;
		cr_assert_eq(frame, pft_foreign_frame(slot_of(asked)));
		cr_assert_eq(found_by_handler, pft_foreign_frame(slot_of(asked + 1)));
		cr_assert_neq(frame, found_by_handler);
	}
}

// The handler comes upon the same slot when it runs on the very stack and its call has the same place.
static void ask_for_the_same_in_handler(void)
{
	found_by_handler = pft_foreign_frame(slot_of(asked));
}

Test(foreign, record_that_a_handler_makes_first_is_found)
{
	struct pft_frame *frame;
	unsigned steps;

	frames = &frame;
	ask();
	asked = 1;
	steps = stepped_all(ask, NULL);
	for (unsigned at = 0; at < steps; at++) {
		asked++;
		if (!stepped_at(at, ask, ask_for_the_same_in_handler))
			continue;
		cr_assert_eq(pft_foreign_frame(slot_of(asked))->slot, slot_of(asked));
	}
}
