// SPDX-License-Identifier: MIT
// Track events: see events.h.
#include "encoder/read/events.h"

#include <stdlib.h>
#include <string.h>

#include "encoder/base/text.h"
#include "encoder/read/memory.h"
#include "encoder/read/tracks.h"

// Fields of TrackEvent.
enum {
	EVENT_CATEGORY_IIDS = 3,
	EVENT_ARGS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME_IID = 10,
	EVENT_TRACK = 11,
	EVENT_CATEGORIES = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER = 30,
	EVENT_DOUBLE_COUNTER = 44,
	EVENT_FLOWS = 47,
	EVENT_ENDING_FLOWS = 48,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

#define CATEGORIES_MAX 1024

struct context {
	struct pft_read_event *event;
	struct pft_read_lists *lists;
	const struct pft_read_sequence *sequence;
	struct pft_text categories;
	bool has_track;
	uint64_t track;
};

static bool kind_of(uint64_t type, enum pft_read_kind *kind)
{
	switch (type) {
	case TYPE_BEGIN:
		*kind = PFT_READ_BEGIN;
		return true;
	case TYPE_END:
		*kind = PFT_READ_END;
		return true;
	case TYPE_INSTANT:
		*kind = PFT_READ_INSTANT;
		return true;
	case TYPE_COUNTER:
		*kind = PFT_READ_COUNTER;
		return true;
	default:
		return false;
	}
}

static const char *copy(struct context *context, const struct pft_wire_field *field)
{
	const char *text = NULL;

	if (field->size)
		text = pft_arena_copy(&context->lists->arena, (const char *)field->bytes, field->size);
	return text ? text : "";
}

// ---- lists ------------------------------------------------------------------------------------------

static void add_category(struct context *context, const char *category)
{
	if (!category)
		return;
	if (context->categories.used)
		pft_text_add(&context->categories, ",");
	pft_text_add(&context->categories, category);
}

// A repeated number: one, or many that are packed.
static void add_categories(struct context *context, const struct pft_wire_field *field)
{
	const uint8_t *at = field->bytes;
	uint64_t iid = field->value;

	if (!field->has_bytes)
		add_category(context, pft_sequence_text(context->sequence, PFT_INTERNED_CATEGORY, iid));
	while (at && at < field->bytes + field->size) {
		at = pft_wire_varint(at, field->bytes + field->size, &iid);
		if (at)
			add_category(
				context, pft_sequence_text(context->sequence, PFT_INTERNED_CATEGORY, iid));
	}
}

static void add_flow(uint64_t **list, size_t *count, size_t *room, uint64_t id)
{
	if (*count == *room) {
		*room = *room ? 2 * *room : 8;
		*list = pft_read_resize(*list, *room * sizeof **list);
	}
	(*list)[(*count)++] = id;
}

static void add_flows(uint64_t **list, size_t *count, size_t *room, const struct pft_wire_field *field)
{
	uint64_t id;

	if (!field->has_bytes)
		add_flow(list, count, room, field->value);
	for (size_t at = 0; at + sizeof id <= field->size; at += sizeof id) {
		memcpy(&id, field->bytes + at, sizeof id);
		add_flow(list, count, room, id);
	}
}

// ---- fields -----------------------------------------------------------------------------------------

static void set_value(struct context *context, struct pft_arg value)
{
	struct pft_read_args *args = &context->lists->args;

	if (!args->room) {
		args->room = 1;
		args->list = pft_read_alloc(sizeof *args->list);
	}
	args->list[0] = value;
	args->count = 1;
}

// False where the field is malformed.
static bool set(struct context *context, const struct pft_wire_field *field)
{
	struct pft_read_event *event = context->event;
	struct pft_read_lists *lists = context->lists;

	switch (field->number) {
	case EVENT_CATEGORY_IIDS:
		add_categories(context, field);
		break;
	case EVENT_CATEGORIES:
		add_category(context, copy(context, field));
		break;
	case EVENT_ARGS:
		return pft_read_args_add(&lists->args, context->sequence, field, &lists->arena);
	case EVENT_NAME_IID:
		event->name = pft_sequence_text(context->sequence, PFT_INTERNED_NAME, field->value);
		break;
	case EVENT_NAME:
		event->name = copy(context, field);
		break;
	case EVENT_TRACK:
		context->has_track = true;
		context->track = field->value;
		break;
	case EVENT_COUNTER:
		set_value(context, (struct pft_arg){"value", PFT_ARG_SIGNED, NULL, field->value});
		break;
	case EVENT_DOUBLE_COUNTER:
		set_value(context, pft_read_double("value", field->value, &lists->arena));
		break;
	case EVENT_FLOWS:
		add_flows(&lists->flows, &event->flow_count, &lists->flow_room, field);
		break;
	case EVENT_ENDING_FLOWS:
		add_flows(&lists->ending_flows, &event->ending_flow_count, &lists->ending_flow_room, field);
		break;
	}
	return true;
}

static bool find_type(const struct pft_wire_field *message, enum pft_read_kind *kind)
{
	struct pft_wire wire = pft_wire_of(message);
	struct pft_wire_field field;
	bool found = false;

	while (pft_wire_next(&wire, &field))
		if (field.number == EVENT_TYPE)
			found = kind_of(field.value, kind);
	return found;
}

static void finish(struct context *context, struct pft_read_table *tracks)
{
	struct pft_read_event *event = context->event;
	struct pft_read_lists *lists = context->lists;

	event->track = pft_tracks_at(tracks, context->track);
	event->args = lists->args.list;
	event->arg_count = lists->args.count;
	event->flows = lists->flows;
	event->ending_flows = lists->ending_flows;
	if (context->categories.used)
		event->category =
			pft_arena_copy(&lists->arena, context->categories.start, context->categories.used);
	if (event->kind == PFT_READ_COUNTER)
		event->name = event->track->name;
}

// The first chunk of the arena stays mapped: else every event would map and unmap one.
static void forget(struct pft_read_lists *lists)
{
	if (!lists->start.last && pft_arena_alloc(&lists->arena, 1))
		lists->start = pft_arena_mark(&lists->arena);
	pft_arena_release(&lists->arena, lists->start);
	lists->args.count = 0;
}

enum pft_event_found pft_read_track_event(struct pft_read_event *event, struct pft_read_lists *lists,
	const struct pft_read_sequence *sequence, struct pft_read_table *tracks,
	const struct pft_wire_field *message)
{
	char categories[CATEGORIES_MAX];
	struct context context = {
		.event = event,
		.lists = lists,
		.sequence = sequence,
		.categories = pft_text_in(categories, sizeof categories),
		.has_track = sequence->has_track,
		.track = sequence->track,
	};
	struct pft_wire wire = pft_wire_of(message);
	struct pft_wire_field field;
	bool good = true;

	*event = (struct pft_read_event){0};
	forget(lists);
	if (!find_type(message, &event->kind))
		return PFT_EVENT_UNKNOWN;
	while (good && pft_wire_next(&wire, &field))
		good = set(&context, &field);
	if (!good || wire.malformed)
		return PFT_EVENT_MALFORMED;
	if (!context.has_track)
		return PFT_EVENT_NO_TRACK;
	finish(&context, tracks);
	return PFT_EVENT_GOOD;
}

void pft_read_lists_free(struct pft_read_lists *lists)
{
	free(lists->args.list);
	free(lists->flows);
	free(lists->ending_flows);
	pft_arena_free(&lists->arena);
}
