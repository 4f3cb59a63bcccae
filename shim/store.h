// SPDX-License-Identifier: MIT
// Where the session lives: one shared mapping of a file, made at startup and made anew, at the same address,
// in a forked child. Startup context (and hot, in a child whose first event starts its session).
//
// The file is in /dev/shm, where writing is memory speed, when a first thread fits there; else beside the
// trace; else it is private memory, which a kill takes with it: that is said in one line. Pages are reserved
// before they are written, so a full file system is an error here and not a SIGBUS in the program later.
#ifndef PFT_STORE_H
#define PFT_STORE_H

#include <stdbool.h>

#include "encoder/session.h"
#include "shim/place.h"
#include "shim/settings.h"

// A session with an empty hook table, of a process that the trace calls `program`. It knows what the process
// was before exec, and the parent that it had then. NULL when there is no memory for it.
struct pft_session *pft_store_make(
	const struct pft_settings *settings, const struct pft_place *place, const char *program);

// In a forked child that cannot have a session: what it may still write must at least not reach its parent.
void pft_store_abandon(void);

// In a forked child: a new session with the hooks and the window of the present one, in its place. 0 or
// -errno; the parent's session is out of reach either way.
int pft_store_make_again(
	const struct pft_settings *settings, const struct pft_place *place, const char *program);

// Around exec. What was drained by now is all there is; if the program that follows is traced it removes this
// session, else (`successor` false) it goes now, and with it the safety of what is recorded when exec fails.
void pft_store_finish(const struct pft_place *place, bool successor);
void pft_store_resume(void);

// Whether a kill leaves it behind.
bool pft_store_is_file(void);

// The trace holds everything: removes the session's file and the link to it. The memory stays: threads may be
// in it.
void pft_store_remove(const struct pft_place *place);

#endif
