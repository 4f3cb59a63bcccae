// SPDX-License-Identifier: MIT
// What a hook is called in the trace: its name and category, as strings of the trace. Called by sequence.c
// the first time that a sequence meets a hook. Flusher context. Memory grows with the number of different
// names, never with the number of events.
//
//   user mode   function                     no category
//   dev mode    object::function             category: the object
#ifndef PFT_NAMES_H
#define PFT_NAMES_H

#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/strings.h"

struct pft_session;

// Longer names are cut at a character's end.
#define PFT_NAME_BYTES_MAX 4096

// Numbers of strings; 0: none.
struct pft_shown {
	uint32_t name, category;
};

struct pft_names {
	struct pft_session *session;
	struct pft_strings strings; // of the trace
	struct pft_arena *scratch;
	struct pft_names_hook *hooks; // by hook id
	uint32_t hooks_room;
};

// How hook `id` is shown, as the session has it now. {0, 0} when out of memory.
struct pft_shown pft_names_show(struct pft_names *names, uint32_t id);

#endif
