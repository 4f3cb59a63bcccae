// SPDX-License-Identifier: MIT
// A session file becomes memory of ours. Called by job.c. An ordinary program's context. The rule: the file
// is copied and never mapped, so that neither what we do to the copy reaches the file before all is done, nor
// does what others do to the file reach us, and a hole in it costs no memory.
#ifndef PFT_RECOVER_LOAD_H
#define PFT_RECOVER_LOAD_H

#include "encoder/session.h"

// A checked copy of the session in `fd`, to be unloaded. NULL, and `*flaw` says why in words.
struct pft_session *pft_load(int fd, const char **flaw);
void pft_unload(struct pft_session *session);

#endif
