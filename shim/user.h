// SPDX-License-Identifier: MIT
// The name of the user that we run as. Startup context. Not from the environment, which may say anything,
// and not from libc, whose look-ups load modules and open sockets in the host process.
#ifndef PFT_USER_H
#define PFT_USER_H

#include "encoder/base/arena.h"

// The effective user's name in /etc/passwd, fit to be a directory's name; the number in decimal when it
// is not there (a network directory's user, a container's). NULL when out of memory.
const char *pft_user_name(struct pft_arena *arena);

#endif
