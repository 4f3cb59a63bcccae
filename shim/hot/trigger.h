// SPDX-License-Identifier: MIT
// PFT_TRIGGER: a recorded call that takes long asks the flusher to write what the rings hold. Hot context.
//
// While it is on, every event takes the slow path, as calls are timed there. Only the first of those that ask
// between two looks of the flusher wakes it: a burst makes one dump a round.
#ifndef PFT_TRIGGER_H
#define PFT_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

// Startup. Calls of hooks that are marked (PFT_MARK_TRIGGER) and that take longer ask from now on.
void pft_trigger_start(uint64_t over_ns);

bool pft_trigger_is_on(void);

// The start of a forked child: what its parent's calls asked for is the parent's.
void pft_trigger_forget(void);

// A call of `hook` that began at `began`, of the recording clock, has returned, and its end is recorded.
// `index`: of the thread's entry.
void pft_trigger_meet(uint32_t hook, uint64_t began, uint32_t index);

// ---- flusher ----------------------------------------------------------------------------------------

bool pft_trigger_is_met(void);

// Whether one has asked since the last time; `*index` is its thread's entry.
bool pft_trigger_take(uint32_t *index);

#endif
