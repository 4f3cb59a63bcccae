// SPDX-License-Identifier: MIT
// Objects that come and go while the program runs. App context, in a thread that holds the loader's lock (it
// is recursive): the loader's lists stand still, and what they show is relocated.
#ifndef PFT_OPENED_H
#define PFT_OPENED_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/objects.h"

// Startup, after the hooks of `objects` were installed. The list stays in use. Never called when nothing can
// be chosen; the verbs below do nothing then.
void pft_opened_start(const struct pft_objects *objects);

// Looks what has come and gone since the last time: diverts what came, gives up what went.
void pft_opened_look(void);

// The same, before an object's constructors run: `address` lies in its code. Without the lock when the object
// was there at startup.
void pft_opened_initialise(uintptr_t address);

// An object was closed or is about to be: the next look takes nothing for granted. Without the lock.
void pft_opened_doubt(void);

// Whether looking may find anything at all. Without the lock.
bool pft_opened_watches(void);

#endif
