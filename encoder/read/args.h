// SPDX-License-Identifier: MIT
// The debug annotations of an event as named values. Called by events.c. Nested ones are named as viewers
// name them: `outer.inner`, `list[0]`.
#ifndef PFT_READ_ARGS_H
#define PFT_READ_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "encoder/arg.h"
#include "encoder/base/arena.h"
#include "encoder/read/interned.h"

struct pft_read_args {
	struct pft_arg *list;
	size_t count, room;
};

// Adds what a DebugAnnotation says. Texts lie in the arena or among the interned ones. False when it is
// malformed.
bool pft_read_args_add(struct pft_read_args *args, const struct pft_read_sequence *sequence,
	const struct pft_wire_field *annotation, struct pft_arena *arena);

// A number with a fraction as `name`; one that is none becomes a text.
struct pft_arg pft_read_double(const char *name, uint64_t bits, struct pft_arena *arena);

#endif
