// SPDX-License-Identifier: MIT
// A thread that nobody announces: see unannounced.h. Called by unit tests.
#include "tests/unit/unannounced.h"

#include <criterion/criterion.h>

#include "shim/next.h"

pthread_t unannounced_create(void *(*start)(void *), void *argument)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		pft_next(PFT_NEXT_pthread_create);
	pthread_t thread;

	cr_assert_eq(create(&thread, NULL, start, argument), 0);
	return thread;
}
