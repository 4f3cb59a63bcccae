// SPDX-License-Identifier: MIT
// The table of hooks: id -> name, object, original, and for what is left alone the reason why. Startup
// context. Everything is prepared first, for all objects; only then the first byte in foreign memory changes.
#ifndef PFT_HOOKS_H
#define PFT_HOOKS_H

#include "encoder/base/arena.h"
#include "encoder/session.h"
#include "shim/objects.h"
#include "shim/select.h"
#include "shim/settings.h"

// Chooses targets among the slots of all objects, names them in the session's hook table and diverts them.
// 0, or -ENOMEM or -ENOSPC with nothing diverted. `arena` is needed during the call only.
int pft_hooks_install(struct pft_session *session, const struct pft_objects *objects,
	const struct pft_selection *selection, const struct pft_settings *settings, struct pft_arena *arena);

#endif
