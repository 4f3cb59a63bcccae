// SPDX-License-Identifier: MIT
// Faulting in pages of the session before they are written. Hot context.
#ifndef PFT_PAGES_H
#define PFT_PAGES_H

#include <stdbool.h>
#include <stddef.h>

// The session is mapped without access, so that mlockall(2) takes only what is in use. After this the pages
// that hold these bytes are there and writable; what is in them stays as it is. False where the file system
// is full: a store would raise SIGBUS, but madvise fails, and where the kernel does not know the advice
// (before Linux 5.14) so does a system call that is asked to write there.
bool pft_pages_reserve(void *start, size_t bytes);

#endif
