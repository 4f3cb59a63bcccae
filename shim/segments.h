// SPDX-License-Identifier: MIT
// The files of a trace one after the other: when one has reached the size that PFT_MAX_SIZE gives, the next
// begins, and the oldest go when only so many are to be kept. Flusher context; the session says what is asked
// for.
//
// The rule: only a file that this process made, and that is still that file, is ever removed.
#ifndef PFT_SEGMENTS_H
#define PFT_SEGMENTS_H

#include "shim/place.h"

struct pft_replay;

// A new recording: nothing has been written. `place` must stay.
void pft_segments_start(const struct pft_place *place);

// Opens the files of the present segment, in the context that calls. As pft_place_open.
int pft_segments_open(struct pft_files *files);

// After a commit: begins the next segment if it is time. `files`, the present one's, are replaced. 0, or the
// first -errno that writing met.
int pft_segments_follow(struct pft_replay *replay, struct pft_files *files);

// Why there are fewer segments than there should be: -errno, or 0. The trace went on in those that there are.
int pft_segments_trouble(void);

#endif
