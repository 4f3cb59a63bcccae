// SPDX-License-Identifier: MIT
// What must happen around fork, exec, the ends of a process, and what it gives up. App context.
#ifndef PFT_PROCESS_H
#define PFT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/place.h"

// Whether this process records, and is no child of vfork in the memory of one that does.
bool pft_process_records(void);

// The program has installed a filter of system calls, or is about to: what it executes is not to record
// either, as the kernel may kill for any call of ours.
extern bool pft_process_filters;

// The end of recording, whichever way it comes; the first caller does it. Set at startup.
extern void (*pft_process_end)(void);

// CLOCK_BOOTTIME at the latest fork(), while it goes on: its child finds it here. 0: none, or not by fork().
extern uint64_t pft_process_forked_ns;

// Startup. The execution of `place`, which must stay, is handed to the programs that this one executes.
void pft_exec_start(const struct pft_place *place);

// Likewise, where this process does not record.
void pft_exec_hand(const char *execution);

// Around what may end this process unseen: all that was recorded goes into the file, and the session with it
// unless a program that is executed with `environment` will be traced, which does that. Behind it, where the
// process goes on all the same, so does recording, if `before` said that it was here. Passes the result on.
bool pft_exec_before(char *const *environment);
int pft_exec_after(bool was_here, int result);

#endif
