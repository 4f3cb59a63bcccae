// SPDX-License-Identifier: MIT
// What a hook is called in the trace: the strings of a trace, each held once and known by a number, and the
// name and category of every hook. Called by sequence.c the first time that a sequence meets a hook.
// Flusher context. Memory grows with the number of different names, never with the number of events.
//
//   user mode   function                     no category
//   dev mode    object::function             category: the object
#ifndef PFT_NAMES_H
#define PFT_NAMES_H

#include <stdint.h>

#include "encoder/base/arena.h"

struct pft_session;

// Longer names are cut at a character's end.
#define PFT_NAME_BYTES_MAX 4096

// Numbers of strings; 0: none.
struct pft_shown {
	uint32_t name, category;
};

struct pft_names {
	struct pft_session *session;
	struct pft_arena *memory; // holds the tables and strings
	struct pft_arena *scratch;
	const char **strings; // by number
	uint32_t strings_room, strings_used;
	uint32_t *buckets; // numbers, by hash; a power of two of them
	uint32_t buckets_room;
	struct pft_names_hook *hooks; // by hook id
	uint32_t hooks_room;
};

// How hook `id` is shown, as the session has it now. {0, 0} when out of memory.
struct pft_shown pft_names_show(struct pft_names *names, uint32_t id);

// The text of a number; NULL for 0.
const char *pft_names_text(const struct pft_names *names, uint32_t number);

#endif
