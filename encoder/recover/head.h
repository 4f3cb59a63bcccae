// SPDX-License-Identifier: MIT
// Finds where a ring of a dead process ends. Called by complete.c. Any context; pure. The writer's own
// register of that died with it; what is known is the position that each slot says of itself (session.h).
#ifndef PFT_RECOVER_HEAD_H
#define PFT_RECOVER_HEAD_H

#include "encoder/session.h"

// Ring position behind the last whole record of the thread in entry `index`; where its records begin, or
// where the last commit left it, when there is none.
uint32_t pft_head_find(struct pft_session *session, uint32_t index);

#endif
