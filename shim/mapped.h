// SPDX-License-Identifier: MIT
// What is mapped where, for stacks: the session's table of mappings, and for each of those that are there now
// where its unwind tables are. Changed in app context, under the loader's lock or at startup, and while the
// unwinder is held (hot/learn.h); read by the unwinder.
#ifndef PFT_MAPPED_H
#define PFT_MAPPED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/session.h"
#include "shim/objects.h"

struct pft_mapped {
	uintptr_t low, high;
	uintptr_t bias;
	const Elf64_Phdr *headers;
	size_t header_count;
	uintptr_t unwind_index; // .eh_frame_hdr; 0: none
	uint32_t number; // of the mapping; 0: there is no room for another
	bool self; // ourselves
};

// Startup: there are stacks to be taken, in `session`. Without it the rest does nothing.
void pft_mapped_start(struct pft_session *session);

// These are the objects from now on. Rules for code that has gone are forgotten.
void pft_mapped_renew(const struct pft_object *objects, size_t count);

// The one that holds `address`, or NULL.
const struct pft_mapped *pft_mapped_at(uintptr_t address);

// Whether `bytes` at `address` can be read in it.
bool pft_mapped_holds(const struct pft_mapped *mapped, uintptr_t address, size_t bytes);

#endif
