// SPDX-License-Identifier: MIT
// Whether a file is a session that can be trusted with our own memory. Called by load.c. Any context; pure.
// Anybody may have written the file: every size, place and number that we would follow is looked at, and none
// of what is only shown.
#ifndef PFT_RECOVER_CHECK_H
#define PFT_RECOVER_CHECK_H

#include "encoder/session.h"

// Of the header, before the rest is there; the file has so many bytes. What is wrong in words, or NULL.
const char *pft_check_header(const struct pft_session *session, uint64_t file_bytes);

// Of what the tables say, once the header is good and all of it is in memory.
const char *pft_check_tables(struct pft_session *session);

#endif
