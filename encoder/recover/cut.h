// SPDX-License-Identifier: MIT
// Takes off a trace's files what was written behind the last commit. Called by complete.c. An ordinary
// program's context.
#ifndef PFT_RECOVER_CUT_H
#define PFT_RECOVER_CUT_H

#include "encoder/session.h"

// `fd`: the packets, `json_fd`: the JSON, open for reading and writing; or -1. 0 or -errno: -ENODATA when one
// is shorter than the commit says, or no packet or line ends there, and then nothing is done.
int pft_cut(const struct pft_commit *commit, int fd, int json_fd);

#endif
