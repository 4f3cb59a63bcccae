// SPDX-License-Identifier: MIT
// Keys and values: see attributes.h.
#include "encoder/read/attributes.h"

#include "encoder/base/arena.h"

// Fields of TraceAttributes and of its Attribute.
enum { ATTRIBUTES_ATTRIBUTE = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_NUMBER = 2, ATTRIBUTE_TEXT = 3 };

static bool attribute(const struct pft_wire_field *message, pft_attribute_function *function, void *user)
{
	struct pft_wire wire = pft_wire_of(message);
	struct pft_arg arg = {.name = NULL};
	struct pft_wire_field field;
	struct pft_arena arena = PFT_ARENA_EMPTY;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == ATTRIBUTE_KEY && field.has_bytes)
			arg.name = pft_arena_copy(&arena, (const char *)field.bytes, field.size);
		if (field.number == ATTRIBUTE_TEXT && field.has_bytes)
			arg.text = pft_arena_copy(&arena, (const char *)field.bytes, field.size);
		if (field.number == ATTRIBUTE_NUMBER) {
			arg.kind = PFT_ARG_SIGNED;
			arg.number = field.value;
		}
	}
	if (arg.name && (arg.text || arg.kind == PFT_ARG_SIGNED))
		function(user, &arg);
	pft_arena_free(&arena);
	return !wire.malformed;
}

bool pft_read_attributes(const struct pft_wire_field *message, pft_attribute_function *function, void *user)
{
	struct pft_wire wire = pft_wire_of(message);
	struct pft_wire_field field;
	bool good = true;

	while (good && pft_wire_next(&wire, &field))
		if (field.number == ATTRIBUTES_ATTRIBUTE && field.has_bytes)
			good = attribute(&field, function, user);
	return good && !wire.malformed;
}
