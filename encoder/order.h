// SPDX-License-Identifier: MIT
// Events on stacks that are not a thread's own, in order of time. Called by lane.c and replay.c. Flusher
// context. Such a stack may be run by one thread after the other, but rings are drained one by one. So a lane
// waits in front of such an event, and all of them go on together, the earliest first.
//
// That is the order of cause and effect when no event is passed that is later than the horizon, a reading of
// the clock from before the first ring's head was read: whatever brought such an event about had been
// recorded by then. What is later waits for the next round.
#ifndef PFT_ORDER_H
#define PFT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct pft_lane;
struct pft_lanes;

// The lane waits in front of an event at `ticks`.
void pft_order_wait(struct pft_lanes *lanes, struct pft_lane *lane, uint64_t ticks);

// Lets those go on whose events are not later than `horizon`. Whether there were any.
bool pft_order_pass(struct pft_lanes *lanes, uint64_t horizon);

#endif
