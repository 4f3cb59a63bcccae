// SPDX-License-Identifier: MIT
// Garbage collectors that look through stacks and registers for whatever might be a pointer (conservative
// ones). While a diverted call is open its caller's rbx is in a frame record (hot/frame.h), where they do not
// look: what is only known there would be collected. So calls during which they may look are left alone.
#ifndef PFT_COLLECTORS_H
#define PFT_COLLECTORS_H

#include <stdbool.h>

#include "shim/objects.h"

struct pft_collector {
	const struct pft_object *object; // that defines it; NULL: there is none
	bool looks_at_running_threads; // stops them; else only its own thread, and those that have saved
				       // registers
};

// Startup, or under the loader's lock. The first of the objects that has one.
struct pft_collector pft_collector_find(const struct pft_objects *objects);

// Why a call is left alone, as words that complete "left alone: it ...", or NULL. `callee` may be NULL.
// `caller_holds`: the caller calls into the collector's object, or is it, so what it has in rbx may be the
// collector's.
const char *pft_collector_forbids(const struct pft_collector *collector, bool caller_holds,
	const struct pft_object *callee, const char *symbol);

#endif
