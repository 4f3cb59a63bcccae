// SPDX-License-Identifier: MIT
// Ways into the resolver for PLTs that hand it the index of a slot in r11. Startup context, or an app thread
// after dlopen; called by slots.c.
// The stub of an ordinary PLT has a second half of its own that pushes the index, and an unresolved slot
// leads there. mold's stubs load it into r11 and jump by way of the slot, which leads to the head of the PLT
// for all of them. Our thunks and trampoline use r11, so it must be loaded anew:
//
//   caller -> stub: index in r11 -> slot: thunk -> ... -> *cell: way, index in r11 -> head -> resolver
#ifndef PFT_LAZY_H
#define PFT_LAZY_H

#include <stdbool.h>

#include "shim/slots.h"

// Whether what an unresolved slot leads to is the head of such a PLT.
bool pft_lazy_wants_index(const void *entry);

// Makes a way for each plan that needs one, and keeps them with the change; a way becomes the value that its
// plan's cell will receive. 0, or -errno (-ENOMEM; -EACCES, -EPERM: the system allows no code of ours).
int pft_lazy_make_ways(struct pft_slots_change *change);

// Of an object which has been closed, or of a change that will not be committed. NULL is none.
void pft_lazy_unmap(struct pft_lazy_way *ways, size_t count);

#endif
