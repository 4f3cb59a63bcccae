// SPDX-License-Identifier: MIT
// Asking the unwinder for a rule that is not kept yet. Hot context. What it takes (ordinary code with vector
// registers, a large stack, tables that are not to be entered twice) is arranged here: one thread at a time,
// on a stack of its own, with all signals held back for those microseconds, so that no handler can come
// between and never return.
#ifndef PFT_LEARN_H
#define PFT_LEARN_H

#include <stdbool.h>
#include <stdint.h>

// What the unwinder is asked, and answers. Set at startup; NULL: there is none. It runs as pft_forked does,
// aside (self.h).
struct pft_question {
	uintptr_t address;
	uint64_t word; // answer: see rules.h
};

extern bool (*pft_unwinder)(void) __attribute__((visibility("hidden")));
extern struct pft_question pft_question __attribute__((visibility("hidden")));

// The rule for code at `address`, from the table or from the unwinder. 0 when it cannot be asked: it is busy
// for too long, or was when this process was forked.
uint64_t pft_learn(uintptr_t address);

// Keeps others from asking, to change what the unwinder looks at or to fork. App context. False when that is
// not possible: then the unwinder is not to be asked ever again.
bool pft_learn_hold(void);
// The holder, or the child that it has made meanwhile.
void pft_learn_release(void);

#endif
