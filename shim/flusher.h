// SPDX-License-Identifier: MIT
// The flusher: drains the rings into the encoder and gives their room back. It is a guest thread (guest.h)
// that starts with the first event, sleeps without wake-ups while nothing is recorded, and can be stopped
// around what a second thread would disturb.
#ifndef PFT_FLUSHER_H
#define PFT_FLUSHER_H

#include "encoder/trace.h"
#include "shim/place.h"

// Startup, and the start of a forked child: nothing has been written yet. `place` must stay.
void pft_flusher_prepare(const struct pft_place *place);

// Starts the thread and waits until it has opened the trace, which it could not later: root or identity are
// about to change. App context.
void pft_flusher_ready(void);

// Drains, commits, says the totals so far and ends the thread, around what it would disturb; it stays away
// until it is allowed to start with the next event. App context. False when it did not come to its end within
// bounds (a file system that hangs): it goes on when it can.
bool pft_flusher_stop(void);
void pft_flusher_start(void);

// The last drain: recording has stopped. Totals and 0, or -errno: the trace is not whole and the session must
// be kept. App context, once.
int pft_flusher_finish(struct pft_totals *totals);

#endif
