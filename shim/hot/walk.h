// SPDX-License-Identifier: MIT
// Where a call came from: the walk up the calling thread's stack. Hot context; it never faults, whatever the
// stack holds. A thread's own stack is read directly, as far as it was once found to be there; any other
// memory by a system call that fails where a load would fault.
//
// Frames of ours are led through and left out: where a return address is pft_return, the frame record has the
// caller's. What cannot be told, code without unwind tables or a stack that makes no sense, ends the walk:
// the stack is cut there.
#ifndef PFT_WALK_H
#define PFT_WALK_H

#include <stdint.h>

#include "shim/hot/self.h"

// The number of the innermost frame (stacks.h) of who called at `slot`, with rbp as it is for him. 0 when
// nothing is known of him.
uint32_t pft_walk(struct pft_self *self, uintptr_t slot, uintptr_t bp);

#endif
