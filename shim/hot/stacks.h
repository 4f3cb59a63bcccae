// SPDX-License-Identifier: MIT
// Stacks in the session, and who wants them. Hot context. All stacks are one tree of frames (session.h) that
// only grows: threads and handlers add to it without a lock, and none of it moves.
#ifndef PFT_STACKS_H
#define PFT_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/session.h"

// Stacks of more frames lose their outer end.
#define PFT_STACK_FRAMES 256

// Startup. Calls are looked at for stacks from now on, each on its slow path: with `over_ns` 0 those of hooks
// that pft_stacks_want names, when they begin; else those that took longer, when they return.
void pft_stacks_start(uint64_t over_ns);
void pft_stacks_want(uint32_t id);

bool pft_stacks_on(void);
bool pft_stacks_at_begin(uint32_t id);
bool pft_stacks_at_end(void);
// Whether a call that began at `began` (of the recording clock) has taken long enough now.
bool pft_stacks_took_long(uint64_t began);

// The number of the frame `code` that `caller` called, which is added when it is new. 0 when there is no
// room: a stack is whole up to its innermost frame, or there is none.
uint32_t pft_stacks_add(uint64_t code, uint32_t caller);

#endif
