// SPDX-License-Identifier: MIT
// One round of the flusher over all threads, and what it does for them besides. Flusher context.
#ifndef PFT_ROUND_H
#define PFT_ROUND_H

#include <stdbool.h>
#include <stdint.h>

struct pft_files;
struct pft_replay;

// Drains every thread: encodes what it recorded, commits, and only then gives its ring's room back. `last`:
// also those that keep the newest events in their rings (PFT_OVERFLOW=overwrite). `files`, the replay's, are
// replaced when the next segment begins. `*progress` counts up with each thread. 1 when there was something
// to drain, 0, or the first -errno that writing met.
int pft_round_drain(struct pft_replay *replay, struct pft_files *files, bool last, uint32_t *progress);

// A fresh reading of all clocks.
void pft_round_renew_clocks(struct pft_replay *replay);

// Reads the names that the kernel has for the threads now, and finds those that have ended unsaid.
void pft_round_look_after_threads(void);

// Notes in the session how much memory the process took at most, and how often it had to be given a page.
void pft_round_measure_process(void);

// Whether a thread waits for room.
bool pft_round_is_waited_for(void);

#endif
