// SPDX-License-Identifier: MIT
// A thread that was not made by our pthread_create: nobody announces it, and it has no seat before its first
// event. Called by unit tests.
#ifndef PFT_TESTS_UNANNOUNCED_H
#define PFT_TESTS_UNANNOUNCED_H

#include <pthread.h>

// Ends the test when it cannot be made.
pthread_t unannounced_create(void *(*start)(void *), void *argument);

#endif
