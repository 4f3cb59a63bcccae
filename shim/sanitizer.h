// SPDX-License-Identifier: MIT
// AddressSanitizer's shared runtime, which ends the program unless it is the first library in the loader's
// list. A preloaded library always comes before it. The runtime wants the definitions of malloc and its kin,
// of which we have none, and passes over entries without a name: that is how the kernel's vdso shows.
#ifndef PFT_SANITIZER_H
#define PFT_SANITIZER_H

#include <stdint.h>

// Startup, in every mode. Where the runtime is listed behind us our entry goes without its name.
void pft_sanitizer_let_first(void);

// App context, before an object's constructors run: `address` lies in its code. The program's come after
// those of all libraries, the runtime's look at the list included; our entry gets its name back then.
void pft_sanitizer_initialise(uintptr_t address);

#endif
