// SPDX-License-Identifier: MIT
// The flusher: drains the rings into the encoder and gives their room back. It is a guest thread (guest.h)
// that starts with the first event, sleeps without wake-ups while nothing is recorded, and can be stopped
// around what a second thread would disturb, or be disturbed by.
#ifndef PFT_FLUSHER_H
#define PFT_FLUSHER_H

#include <stdbool.h>

#include "encoder/trace.h"
#include "shim/place.h"
#include "shim/reports.h"

// Startup, and the start of a forked child: nothing has been written yet. `place` must stay. `say_report`:
// finish hands out a report for stderr.
void pft_flusher_prepare(const struct pft_place *place, bool say_report);

// Whether somebody has waited for the thread in vain, and it has not got on since. Also in a forked child
// before its own is prepared: of the parent's, whose files may be where nothing answers.
bool pft_flusher_is_stuck(void);

// Starts the thread when it does not run and waits until it has its file, which it perhaps could not open
// later: root or identity are about to change. App context.
void pft_flusher_ready(void);

// The calling thread has become somebody else, or has put capabilities down (capset with these arguments): so
// does the flusher, which shares the program's memory and must not keep in secret what the program gave up.
void pft_flusher_follow_identity(void);
void pft_flusher_follow_capabilities(const void *header, const void *data);

// Drains, commits, says the totals so far and ends the thread. App context. False, and no start is due, when
// it did not come to its end within bounds (a file system that hangs): it goes on when it can. `leaving`: the
// calling thread is about to execute another program, and its open calls may never return; reports are
// written.
bool pft_flusher_stop(bool leaving);

// After a stop that was true signals are held until the start; exec hands them on to the program that
// follows, so they are let in again. A handler may then leave by siglongjmp: the calling thread's next event,
// or its next verb, is the start.
void pft_flusher_let_signals_in(void);

// After a stop that was true: the thread is there again, in the namespaces of the caller, and with its file,
// which is handed over: it could perhaps not be opened any more.
void pft_flusher_start(void);

// The last drain: recording has stopped. Totals and 0, or -errno: the trace is not whole and the session must
// be kept; totals are zero where they are not known. `report`: what is to be said of all calls, if that was
// asked for. App context, once.
int pft_flusher_finish(struct pft_totals *totals, struct pft_said *report);

// Whether that error says that the trace is not there any more: then what was recorded is lost, and a session
// would help nobody.
bool pft_flusher_lost_files(int error);

// For another thread, which must not end the process while that is going on. False when it takes too long.
bool pft_flusher_await_finish(void);

#endif
