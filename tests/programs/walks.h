// SPDX-License-Identifier: MIT
// A signal handler's view of what it interrupted, by each of three unwinders.
#ifndef PFT_TESTS_WALKS_H
#define PFT_TESTS_WALKS_H

#include <stdint.h>
#include <ucontext.h>

// The registers that a callee gives back, but for rsp.
enum { WALK_RBX, WALK_RBP, WALK_R12, WALK_R13, WALK_R14, WALK_R15, WALK_SAVED };

struct walk_frame {
	uintptr_t ip, sp;
	uintptr_t saved[WALK_SAVED];
};

#define WALK_FRAMES_MAX 128

struct walk {
	int count;
	struct walk_frame frames[WALK_FRAMES_MAX]; // innermost first
};

struct walker {
	const char *name;
	// Called by the handler that was passed this context.
	void (*walk)(struct walk *walk, const ucontext_t *context);
};

enum { WALKERS = 3 };

extern const struct walker walkers[WALKERS];

// Before the first walk. The number of walkers that work on this machine, which are the first ones.
int walkers_open(void);

// What the context itself says: the innermost frame.
struct walk_frame walk_interrupted(const ucontext_t *context);

#endif
