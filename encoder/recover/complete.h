// SPDX-License-Identifier: MIT
// Writes into a trace what only the session of its dead process still holds. Called by job.c. An ordinary
// program's context. The rule: the same session makes the same trace, byte by byte, however often and however
// far that was tried before. (Who was killed within the first milliseconds, before the first commit, left no
// rate of his clock; it is measured, and times differ by a few nanoseconds.)
#ifndef PFT_RECOVER_COMPLETE_H
#define PFT_RECOVER_COMPLETE_H

#include "encoder/session.h"
#include "encoder/trace.h"

struct pft_completed {
	struct pft_totals totals;
	uint64_t found; // events that were in the session only
};

// `session` is a checked copy of the caller's, which is changed; `fd` is the trace file and `json_fd` that of
// JSON, open for reading and writing, or -1. They are cut where the last commit ends and written anew from
// there. 0 or -errno: -ENODATA when one is shorter than that, or no packet or line ends there, and then
// nothing is done.
int pft_complete(struct pft_session *session, int fd, int json_fd, struct pft_completed *completed);

#endif
