// SPDX-License-Identifier: MIT
// All that is changed in one object so that the chosen calls go to thunks: its slots and its stubs. Startup
// context; for an object that comes later an application thread that holds the loader's lock. Called by
// hooks.c, which owns the ids.
#ifndef PFT_DIVERSION_H
#define PFT_DIVERSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/slots.h"
#include "shim/stubs.h"
#include "shim/targets.h"

struct pft_diversion {
	const struct pft_object *object;
	uint32_t first; // id; one a target
	size_t count;
	struct pft_slots_change slots;
	struct pft_stubs_change stubs;
};

// Plans `count` targets of the object, with the ids from `first` on. 0, or -ENOMEM. The plans are in `arena`.
int pft_diversion_plan(
	struct pft_diversion *diversion, const struct pft_target *targets, struct pft_arena *arena);

// Makes ready what the object allows, and says the rest with PFT_VERBOSE. How many calls are ready.
size_t pft_diversion_prepare(struct pft_diversion *diversion);

// Cannot fail.
void pft_diversion_commit(struct pft_diversion *diversion);

// What stays as long as the object.
struct pft_diversion_kept {
	uint32_t first;
	size_t count;
	struct pft_slots_kept slots;
	struct pft_stubs_kept stubs;
};

struct pft_diversion_kept pft_diversion_keep(const struct pft_diversion *diversion);

// Whether the object holds these changes: not so when it was closed, and opened again at the same place.
bool pft_diversion_is_in(const struct pft_diversion_kept *kept, const struct pft_object *object);

// Gives back what was made for an object which has been closed.
void pft_diversion_drop(struct pft_diversion_kept *kept);

#endif
