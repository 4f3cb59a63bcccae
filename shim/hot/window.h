// SPDX-License-Identifier: MIT
// The recording window: outside of it calls pass and nothing is recorded. Hot context: a call may open or
// close it; so may the flusher, by the clock, by count, or because it was asked to.
//
// The hot path does not ask. Whoever closes the window leaves no thread room before its limits, as before the
// flusher's sleep, so that every event takes the slow path, which asks here. A thread that renews its limits
// stores them and then looks at the window; who closes it stores that and then the limits: one of the two
// sees the other.
#ifndef PFT_WINDOW_H
#define PFT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/session.h"

enum pft_edge_kind {
	PFT_EDGE_NONE,
	PFT_EDGE_DELAY,
	PFT_EDGE_EVENTS,
	PFT_EDGE_CALL, // of a function that is marked
	PFT_EDGE_ASKED, // only who asks the flusher opens it
};

// When the window opens, or when it closes once it has opened. Each happens once.
struct pft_edge {
	enum pft_edge_kind kind;
	uint64_t amount; // nanoseconds, or events: a begin is one, an end is one
};

// What a hook's function is besides being recorded.
#define PFT_MARK_START 1u // its first call opens the window
#define PFT_MARK_STOP 2u // its first call closes it
#define PFT_MARK_TRIGGER 4u // a long call asks for what the rings hold (trigger.h)

extern uint8_t pft_window_marks[PFT_HOOKS_MAX] __attribute__((visibility("hidden")));

// Startup, with the session's memory there. Without a start the window is open.
void pft_window_start(struct pft_edge start, struct pft_edge stop);

// Every thread's next event sees it. Nothing when it is so already.
void pft_window_open(void);
void pft_window_close(void);

// Whether calls must be shown to pft_window_meet, and so take the slow path all.
bool pft_window_watches(void);

// A function is about to be called.
void pft_window_meet(uint32_t hook);

// So many events were not recorded because the window is closed.
void pft_window_skip(unsigned events);

// ---- flusher ----------------------------------------------------------------------------------------

// Whether it closes by count; then so many events were recorded by now.
bool pft_window_counts(void);
void pft_window_count(uint64_t events);

// Opens or closes the window if its time has come, by CLOCK_MONOTONIC. When that is, UINT64_MAX: never.
void pft_window_look(uint64_t now_ns);
uint64_t pft_window_due_ns(void);

#endif
