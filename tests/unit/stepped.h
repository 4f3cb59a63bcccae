// SPDX-License-Identifier: MIT
// Interrupts code between any two instructions, as a signal may. Called by unit tests, one thread at a time.
// Only instructions of the test program itself count, those of its libraries are passed over, and so are
// those that run while SIGUSR1 is blocked.
#ifndef PFT_TESTS_STEPPED_H
#define PFT_TESTS_STEPPED_H

#include <stdbool.h>

// Runs `run` and calls `visit` (which may be NULL) in a signal handler before every instruction. Returns how
// many there were.
unsigned stepped_all(void (*run)(void), void (*visit)(void));

// Runs `run` and calls `visit` in a signal handler before the instruction that was number `at` of the last
// stepped_all. False when `run` took another way this time and did not come by. `visit` may leave by
// siglongjmp.
bool stepped_at(unsigned at, void (*run)(void), void (*visit)(void));

#endif
