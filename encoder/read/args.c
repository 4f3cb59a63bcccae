// SPDX-License-Identifier: MIT
// Debug annotations: see args.h.
#include "encoder/read/args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "encoder/base/text.h"
#include "encoder/read/memory.h"

// Fields of DebugAnnotation.
enum {
	ARG_NAME_IID = 1,
	ARG_BOOL = 2,
	ARG_UNSIGNED = 3,
	ARG_SIGNED = 4,
	ARG_DOUBLE = 5,
	ARG_TEXT = 6,
	ARG_POINTER = 7,
	ARG_NAME = 10,
	ARG_DICT_ENTRIES = 11,
	ARG_ARRAY_VALUES = 12,
	ARG_TEXT_IID = 17,
};

// Deeper values, and longer names of nested ones, are left out, or cut.
#define DEPTH_MAX 16
#define NESTED_NAME_MAX 512

// Where a value stands.
struct place {
	const char *outer; // name around it, or NULL
	bool in_list;
	size_t index; // in the list
	int depth;
};

struct context {
	struct pft_read_args *args;
	const struct pft_read_sequence *sequence;
	struct pft_arena *arena;
};

static const char *text_of(const struct context *context, const struct pft_wire_field *field)
{
	const char *copy =
		field->size ? pft_arena_copy(context->arena, (const char *)field->bytes, field->size) : NULL;

	return copy ? copy : "";
}

static void push(struct pft_read_args *args, struct pft_arg arg)
{
	if (args->count == args->room) {
		args->room = args->room ? 2 * args->room : 16;
		args->list = pft_read_resize(args->list, args->room * sizeof *args->list);
	}
	args->list[args->count++] = arg;
}

struct pft_arg pft_read_double(const char *name, uint64_t bits, struct pft_arena *arena)
{
	struct pft_arg arg = {.name = name, .kind = PFT_ARG_NUMBER};
	char text[40];
	double value;

	memcpy(&value, &bits, sizeof value);
	snprintf(text, sizeof text, "%.17g", value);
	if (!isfinite(value))
		arg.kind = PFT_ARG_TEXT;
	arg.text = pft_arena_copy(arena, text, strlen(text));
	if (!arg.text)
		arg = (struct pft_arg){.name = name, .kind = PFT_ARG_TEXT, .text = ""};
	return arg;
}

// False: the field is no value.
static bool value_of(const struct context *context, const struct pft_wire_field *field, const char *name,
	struct pft_arg *arg)
{
	*arg = (struct pft_arg){.name = name, .number = field->value};
	switch (field->number) {
	case ARG_BOOL:
		arg->kind = PFT_ARG_BOOL;
		return true;
	case ARG_UNSIGNED:
		arg->kind = PFT_ARG_UNSIGNED;
		return true;
	case ARG_SIGNED:
		arg->kind = PFT_ARG_SIGNED;
		return true;
	case ARG_POINTER:
		arg->kind = PFT_ARG_ADDRESS;
		return true;
	case ARG_DOUBLE:
		*arg = pft_read_double(name, field->value, context->arena);
		return true;
	case ARG_TEXT:
		arg->text = text_of(context, field);
		return true;
	case ARG_TEXT_IID:
		arg->text = pft_sequence_text(context->sequence, PFT_INTERNED_ARG_TEXT, field->value);
		return arg->text != NULL;
	default:
		return false;
	}
}

static const char *own_name(const struct context *context, const struct pft_wire_field *annotation)
{
	struct pft_wire wire = pft_wire_of(annotation);
	const char *name = NULL;
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == ARG_NAME && field.has_bytes)
			name = text_of(context, &field);
		else if (field.number == ARG_NAME_IID)
			name = pft_sequence_text(context->sequence, PFT_INTERNED_ARG_NAME, field.value);
	}
	return name ? name : "";
}

static const char *full_name(
	const struct context *context, const struct place *place, const struct pft_wire_field *annotation)
{
	const char *name = place->in_list ? "" : own_name(context, annotation);
	char room[NESTED_NAME_MAX];
	struct pft_text text = pft_text_in(room, sizeof room);
	const char *copy;

	if (!place->outer)
		return name;
	pft_text_add(&text, place->outer);
	pft_text_add(&text, place->in_list ? "[" : ".");
	if (place->in_list)
		pft_text_add_number(&text, place->index);
	pft_text_add(&text, place->in_list ? "]" : name);
	copy = pft_arena_copy(context->arena, room, text.used);
	return copy ? copy : "";
}

static bool add(const struct context *context, const struct pft_wire_field *annotation, struct place place)
{
	const char *name = full_name(context, &place, annotation);
	struct pft_wire wire = pft_wire_of(annotation);
	struct place inner = {.outer = name, .depth = place.depth + 1};
	struct pft_wire_field field;
	struct pft_arg arg;
	bool good = true;

	while (good && pft_wire_next(&wire, &field)) {
		inner.in_list = field.number == ARG_ARRAY_VALUES;
		if ((field.number == ARG_DICT_ENTRIES || inner.in_list) && field.has_bytes) {
			if (inner.depth < DEPTH_MAX)
				good = add(context, &field, inner);
			inner.index++;
		} else if (value_of(context, &field, name, &arg)) {
			push(context->args, arg);
		}
	}
	return good && !wire.malformed;
}

bool pft_read_args_add(struct pft_read_args *args, const struct pft_read_sequence *sequence,
	const struct pft_wire_field *annotation, struct pft_arena *arena)
{
	const struct context context = {.args = args, .sequence = sequence, .arena = arena};

	return add(&context, annotation, (struct place){0});
}
