// SPDX-License-Identifier: MIT
// The life of threads: where they begin, how large their stacks are, when they are over. App context.
#ifndef PFT_THREADS_H
#define PFT_THREADS_H

#include <stdbool.h>

// Startup: the calling thread is the main thread and sits down; threads that come will.
void pft_threads_start(void);

#endif
