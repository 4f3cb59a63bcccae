// SPDX-License-Identifier: MIT
// Keeps the two commit records of a session: see session.h. Called by replay.c, and read by `recover`.
// Flusher context. The rule: a record is filled while the other one is whole, and becomes the whole one by
// one store, after the bytes that it speaks of are in the file.
//
// A thread's entry lists its open calls from the outermost in; those beyond its own count are not listed. An
// open call of hook PFT_HOOK_NONE was closed by a gap: its end will close nothing. One without
// PFT_OPEN_WRITTEN is held back by the shortest duration.
#ifndef PFT_COMMIT_H
#define PFT_COMMIT_H

#include <stdint.h>

#include "encoder/lane.h"
#include "encoder/session.h"

// Depth of a thread whose end is in the file and whose counts are among those of the header.
#define PFT_COMMIT_ENDED UINT32_MAX

// Makes `head` and the lanes the state that a recovery would go on from. `head` is complete but for the
// threads. Lanes and strands of which no record lacks news are not touched: the cost is that of what has
// changed.
void pft_commit_write(struct pft_session *session, const struct pft_commit *head, struct pft_lane *stale,
	struct pft_strands *strands);

#endif
