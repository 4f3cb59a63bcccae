// SPDX-License-Identifier: MIT
// The table of hooks: id -> name, object, original, and for what is left alone the reason why. Startup
// context; for objects that come later an application thread that holds the loader's lock. Everything is
// prepared first, for all objects; only then the first byte in foreign memory changes.
#ifndef PFT_HOOKS_H
#define PFT_HOOKS_H

#include <stdbool.h>

#include "encoder/base/arena.h"
#include "encoder/session.h"
#include "shim/objects.h"
#include "shim/select.h"
#include "shim/settings.h"

// Startup, before the rest: hooks that `selection` matches ask where calls come from. It stays in use.
void pft_hooks_want_stacks(const struct pft_selection *selection);

// Chooses targets among the slots of all objects, names them in the session's hook table and diverts them.
// 0, or -ENOMEM or -ENOSPC with nothing diverted. `arena` is needed during the call only; selection and
// settings stay in use.
int pft_hooks_install(struct pft_session *session, const struct pft_objects *objects,
	const struct pft_selection *selection, const struct pft_settings *settings, struct pft_arena *arena);

// Whether any function may be chosen, now or later.
bool pft_hooks_wanted(const struct pft_settings *settings);

// The hooks of one object that may be closed again.
struct pft_hooks_run;

// Diverts one of `objects` (which are in the order of its scope), as install does for all. NULL when none of
// its slots is chosen, or memory is short.
struct pft_hooks_run *pft_hooks_add(
	const struct pft_objects *objects, const struct pft_object *object, struct pft_arena *arena);

// Whether these hooks are in the object: not so when it was closed, and opened again at the same place.
bool pft_hooks_are_in(struct pft_hooks_run *run, const struct pft_object *object);

// The object was closed. Its ids, with their names, serve again when an object with the same ones comes.
void pft_hooks_drop(struct pft_hooks_run *run);

#endif
