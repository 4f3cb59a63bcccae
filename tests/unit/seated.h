// SPDX-License-Identifier: MIT
// The calling thread records into a fake session, and nobody takes the records away: for tests of what runs
// in hot context. Called by unit tests.
//
// Hooks are called a, b, c, ... in the order in which they were made. Records are shown as words:
//   +a begin   -a end   ~a unwound   +w -w wait for room   ?:4:1 gap of 4 events at depth 1   |:1 pause at
//   depth 1   hole
// and on a foreign stack with the number of its slot behind, counted as they are met: +a@1 -a@1
#ifndef PFT_TESTS_SEATED_H
#define PFT_TESTS_SEATED_H

#include <stdint.h>

#include "encoder/session.h"
#include "shim/hot/self.h"

// A session with recording on; nobody sits yet. A full ring drops: nobody would make room.
void seated_session(enum pft_clock clock, uint64_t ring_bytes);

// That, with a ring that holds some thousand calls, and the calling thread sits down.
struct pft_self *seated_start(enum pft_clock clock);

// The calling thread sits down, in a session that was made before.
struct pft_self *seated_sit(void);

// The block of seat `index`, or NULL when nobody has taken it yet.
struct pft_self *seated_at(uint32_t index);

// Above every slot of the calling thread's stack.
uintptr_t seated_stack_high(void);

// A new hook whose original is `function`: what a diverted slot would hold.
void *seated_hook(void *function);
uint32_t seated_hook_id(const void *thunk);

// What the thread of seat `index` has recorded since the last call. Fails the test when the records are not
// in order of time. Valid until the next call.
const char *seated_records_of(uint32_t index);

// The same of the calling thread.
const char *seated_records(void);

// Without holes and waits: where they are depends on the moment of an interruption.
const char *seated_events_of(uint32_t index);
const char *seated_events(void);

// The address of foreign slot `number`, as it stands in the records.
uintptr_t seated_slot(unsigned number);

// The ring of the calling thread is empty, as after a flusher's round.
void seated_drain(void);

// From here on every event of the calling thread takes the slow path, where it is admitted.
void seated_arm(void);

// Fills the ring with calls of that hook, until one is dropped for want of room. Open calls keep room for
// their ends.
void seated_fill(void (*hooked)(void));

// Runs `run` on a stack that is not the thread's own, with room for 256 KiB.
void seated_elsewhere(void (*run)(void));

#endif
