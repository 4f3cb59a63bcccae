// SPDX-License-Identifier: MIT
// Strings of the session: names of hooks, paths of objects. Startup context, or app context under the
// loader's lock. They are added only; the flusher reads them meanwhile.
#ifndef PFT_TEXTS_H
#define PFT_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/session.h"

// Makes sure that so many bytes more, as far as there is room, can be written. False where the file system is
// full.
bool pft_texts_reserve(struct pft_session *session, uint64_t bytes);

// The offset of a copy, for which memory was reserved; 0, the empty string, when there is no room.
uint32_t pft_texts_add(struct pft_session *session, const char *text);

#endif
