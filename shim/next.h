// SPDX-License-Identifier: MIT
// The next definition of a function that we interpose: what dlsym(RTLD_NEXT) would find, read from the
// loader's list. Any context but hot: no loader lock is taken, no memory allocated, and a second preload
// behind us is honoured.
#ifndef PFT_NEXT_H
#define PFT_NEXT_H

// Never NULL for a function of the C library.
void *pft_next_function(const char *name);

#endif
