// SPDX-License-Identifier: MIT
// What must happen around fork, exec and the ends of a process. App context.
#ifndef PFT_PROCESS_H
#define PFT_PROCESS_H

#include "shim/place.h"

// Startup. The execution of `place`, which must stay, is handed to the programs that this one executes.
void pft_process_start(const struct pft_place *place);

// The end of recording, whichever way it comes; the first caller does it. Set by shim.c.
extern void (*pft_process_end)(void);

#endif
