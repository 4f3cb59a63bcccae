// SPDX-License-Identifier: MIT
// A thread's ring of records, written by the thread alone. Hot context, slow path: the trampoline does the
// same few stores for an ordinary begin or end.
//
// Commit after writing: a writer claims the position, writes its records behind it, and one unlocked
// compare-and-swap of the head moves the position. When a handler recorded in between, the swap fails and
// the writer starts anew with a fresh clock reading: no inversions, also when the handler never returns.
//
// A handler must not write where the writer that it interrupted will go on storing once it returns: it would
// lose its committed records. So a claim is announced (`busy`), then the head is looked at once more; who
// finds the head's own position claimed leaves a hole there, with a marker behind it, and goes on behind
// that.
#ifndef PFT_RING_H
#define PFT_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/hot/self.h"

// Claims the head's position for up to PFT_HOLE_SLOTS slots and returns the head. A commit must be tried
// next; a claim that is given up costs the next writer a hole.
uint64_t pft_ring_claim(struct pft_self *self);

// Stores `what` with the time `ticks` at `position`; returns the position behind.
uint32_t pft_ring_write(struct pft_self *self, uint32_t position, uint64_t ticks, uint32_t what);
// Stores the second slot of an event with PFT_FOREIGN or PFT_STACK.
uint32_t pft_ring_write_detail(struct pft_self *self, uint32_t position, uint64_t slot, uint32_t stack);

// Moves the head from `old` to {position, floor}. False when a handler moved it in between.
bool pft_ring_commit(struct pft_self *self, uint64_t old, uint32_t position, uint32_t floor);

// Both are false while the window is closed (window.h), and nothing counts as dropped then.

// Whether a begin, with its end to come, can be recorded now. Waits for the flusher where PFT_OVERFLOW says
// so. Otherwise false: the caller drops the begin, and with it the end, by pft_ring_drop.
bool pft_ring_admits_begin(struct pft_self *self);

// Whether an end can be recorded now. False only for calls that were nested deeper than the ring has room to
// keep for their ends.
bool pft_ring_admits_end(struct pft_self *self);

// Counts events that are not recorded; the next record that is will be preceded by a gap.
void pft_ring_drop(struct pft_self *self, unsigned events);

// Sends every thread's next event to the slow path. Any context.
void pft_ring_arm_all(void);

// An empty ring: everything before `position` is committed. Sets head (with `floor`) and limits.
void pft_ring_start(struct pft_self *self, uint32_t position, uint32_t floor);

// The threads' side of waking the flusher, when it sleeps (session.h).
void pft_ring_wake_flusher(void);

// The flusher has given room back to a thread, or is about to begin.
void pft_ring_expect_room(void);

// Nobody will give room back: until somebody does, no thread waits for it. A thread that has waited in vain
// while no other was given room says so as well, or many threads would wait one after another.
void pft_ring_expect_none(void);

// Whether a thread has waited so, and none was given room since.
bool pft_ring_waited_in_vain(void);

// How long a thread waits for room before it drops instead.
#define PFT_WAIT_BOUND_NS UINT64_C(2000000000)

#endif
