// SPDX-License-Identifier: MIT
// PLT stubs over GLOB_DAT slots (.plt.got), and how one is led elsewhere. Startup context, or an app thread
// after dlopen.
// A linker makes such a stub for a function that an object both calls and takes the address of. The slot
// must go on holding the address, so the stub's displacement changes, and the slot stays:
//
//   caller -> stub: jmp *way(%rip) -> thunk -> ... -> *cell: the function
//             (was: jmp *slot(%rip))
//   code that takes the address: mov slot(%rip) -> the function
#ifndef PFT_STUBS_H
#define PFT_STUBS_H

#include <stdbool.h>
#include <stddef.h>

#include "shim/objects.h"

// Whether the displacement is that of a stub as linkers write them, all of which lies in [start, end). The
// bytes around it are compared; that it leads to a slot is for the caller to know. Together that is
// 64 bits of an aligned place that say the same.
bool pft_stub_around(const unsigned char *displacement, const unsigned char *start, const unsigned char *end);

// One planned change: the stub shall jump to `thunk`; `cell` receives the original.
struct pft_stub_plan {
	unsigned char *displacement;
	void *original;
	void *thunk;
	void **cell;
};

// What stays as long as the object.
struct pft_stubs_kept {
	void **ways; // what the stubs jump through, one a plan, near the object; NULL: nothing was changed
	size_t count;
	unsigned char *displacement; // of the stub that leads to the first of them
};

struct pft_stubs_change {
	const struct pft_object *object;
	struct pft_stub_plan *plans;
	size_t count;
	struct pft_stubs_kept kept; // made by prepare
};

// Makes the ways and makes the stubs' pages writable. 0, or -errno with nothing changed (-ENOMEM: no room
// near the object; -EACCES, -EPERM: the system lets nobody write to code).
int pft_stubs_prepare(struct pft_stubs_change *change);

// Writes the cells, then the stubs; then the pages are as before. Cannot fail.
void pft_stubs_commit(struct pft_stubs_change *change);

// Whether the object's stubs are led to these ways: not so when it was closed, and opened again at the same
// place.
bool pft_stubs_are_led(const struct pft_stubs_kept *kept, const struct pft_object *object);

// Gives back what was made for an object which has been closed.
void pft_stubs_drop(struct pft_stubs_kept *kept);

#endif
