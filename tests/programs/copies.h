// SPDX-License-Identifier: MIT
// Coroutines that copy their stacks: libcopies.c.
#ifndef PFT_TESTS_COPIES_H
#define PFT_TESTS_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct copy {
	void (*body)(struct copy *me);
	int number;
	bool is_over;
	size_t size; // of what was copied away; 0: has not run yet
	char bytes[65536];
};

// Runs a coroutine, from its start or where it rested, until it rests or is over. Always called from one
// frame.
void copies_go_on(struct copy *copy);
// The running coroutine rests.
void copies_rest(void);

#endif
