// SPDX-License-Identifier: MIT
// Which calls of an object are diverted, and where. Startup context. Chooses among the slots of one object
// by what the user selected and by what can be done; changes nothing.
//
//   slot            what the object's code does with it       the call is diverted
//   JUMP_SLOT       calls by the PLT                          at the slot
//   GLOB_DAT        calls and jumps, nothing else             at the slot
//                   takes the address, calls by a PLT stub    at the stub
//                   takes the address                         not: it needs a hook at the function's entry
//   GLOB_DAT that leads into the program's PLT                at the program's slot, where it passes anyway
#ifndef PFT_TARGETS_H
#define PFT_TARGETS_H

#include "encoder/base/arena.h"
#include "shim/collectors.h"
#include "shim/objects.h"
#include "shim/select.h"
#include "shim/settings.h"
#include "shim/slots.h"

// What a choice depends on.
struct pft_survey {
	const struct pft_objects *objects;
	const struct pft_selection *selection;
	const struct pft_settings *settings;
	struct pft_arena *arena;
	struct pft_collector collector; // among the objects
};

struct pft_target {
	struct pft_slot slot;
	const struct pft_object *callee; // that defines the function, as far as can be told; or NULL
	unsigned char
		*stub; // displacement of the stub that is to be led elsewhere instead of the slot, or NULL
};

struct pft_targets {
	struct pft_target *all; // in the survey's arena
	size_t count;
};

// 0, or -ENOMEM. What is left alone though it is wanted is said, with the reason.
int pft_targets_choose(
	const struct pft_survey *survey, const struct pft_object *caller, struct pft_targets *targets);

#endif
