// SPDX-License-Identifier: MIT
// Copies packets and gives their sequences new ids: see join.h.
#include "encoder/merge/join.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/out.h"
#include "encoder/packet.h"
#include "encoder/read/attributes.h"
#include "encoder/read/memory.h"
#include "encoder/read/packets.h"
#include "encoder/read/tracks.h"
#include "encoder/varint.h"

// Fields of Trace and of TracePacket, with their wire types where they are written.
enum { TRACE_PACKET_TAG = 1 << 3 | 2 };
enum {
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_SEQUENCE_TAG = PACKET_SEQUENCE << 3,
	PACKET_TRACK = 60,
	PACKET_TRACE_UUID = 89,
	PACKET_ATTRIBUTES = 126,
	PACKET_ATTRIBUTES_TAG = PACKET_ATTRIBUTES << 3 | 2,
};
enum { ATTRIBUTES_ATTRIBUTE_TAG = 1 << 3 | 2 };
enum { ATTRIBUTE_KEY_TAG = 1 << 3 | 2, ATTRIBUTE_NUMBER_TAG = 2 << 3, ATTRIBUTE_TEXT_TAG = 3 << 3 | 2 };

// A tag and a number, at most.
#define FIELD_MAX (5 + PFT_VARINT_MAX)

// One member while it is read.
struct part {
	struct pft_join *join;
	struct pft_packets_in packets;
	struct pft_read_table sequences; // new ids by old ones
	uint64_t last_old; // the sequence that was met last, and its new id
	uint32_t last_new;
	uint32_t other;
	bool continues; // the segment before it is in the trace
};

// Where in a packet the field that tells its sequence stands.
struct place {
	size_t at, end; // 0, 0: nowhere
	uint64_t id; // 0: none is told
	bool odd; // it stands there twice, or something else is to be left out
};

// ---- sequences --------------------------------------------------------------------------------------

// What names no sequence is one of its member's own as well: state of different members must not meet.
static uint32_t new_id(struct part *part, uint64_t old)
{
	void **place;

	if (part->last_new && part->last_old == old)
		return part->last_new;
	place = pft_read_table_at(&part->sequences, old);
	if (!*place)
		*place = (void *)(uintptr_t)++part->join->last_sequence;
	part->last_old = old;
	part->last_new = (uint32_t)(uintptr_t)*place;
	return part->last_new;
}

// ---- what is looked at on the way -------------------------------------------------------------------

static bool is_same_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static bool is_same_track(const struct pft_read_track *one, const struct pft_read_track *other)
{
	if (one->kind != other->kind)
		return false;
	if (one->kind == PFT_TRACK_THREAD || one->kind == PFT_TRACK_PROCESS)
		return one->pid == other->pid && one->tid == other->tid;
	return (one->parent ? one->parent->uuid : 0) == (other->parent ? other->parent->uuid : 0) &&
	       is_same_text(one->name, other->name);
}

// A track may be described again, as by a process that was forked from it. That it is another one shows
// members that cannot be told apart in one trace.
static void meet_track(struct part *part, const struct pft_wire_field *descriptor)
{
	struct pft_join *join = part->join;
	struct pft_read_table scratch = {.room = 0};
	struct pft_read_track *track = pft_tracks_describe(&scratch, descriptor);
	struct pft_read_track *known = track ? pft_read_table_find(&join->tracks, track->uuid) : NULL;
	uint32_t member = known ? (uint32_t)(uintptr_t)known->user : 0;

	if (member && member != join->members && track->uuid && !is_same_track(track, known) && !part->other)
		part->other = member;
	if (track && !member)
		pft_tracks_describe(&join->tracks, descriptor)->user = (void *)(uintptr_t)join->members;
	pft_tracks_free(&scratch);
}

static void hear_fact(void *user, const struct pft_arg *attribute)
{
	struct pft_join *join = user;

	if (pft_facts_are_ours(attribute))
		pft_facts_hear(&join->facts, attribute);
}

static void ask_whose(void *user, const struct pft_arg *attribute)
{
	bool *ours = user;

	*ours |= pft_facts_are_ours(attribute);
}

static bool is_facts(const struct pft_wire_field *attributes)
{
	bool ours = false;

	pft_read_attributes(attributes, ask_whose, &ours);
	return ours;
}

// Fields that the merged trace does not have: it is not the trace that a member's uuid names, and facts are
// told at its end.
static bool is_left_out(const struct pft_wire_field *field)
{
	return field->number == PACKET_SEQUENCE || field->number == PACKET_TRACE_UUID ||
	       (field->number == PACKET_ATTRIBUTES && field->has_bytes && is_facts(field));
}

// ---- packets ----------------------------------------------------------------------------------------

static uint8_t *put_id(uint8_t *at, uint32_t id)
{
	*at++ = PACKET_SEQUENCE_TAG;
	return pft_varint_put(at, id);
}

static uint8_t *put_bytes(uint8_t *at, const uint8_t *from, const uint8_t *end)
{
	memcpy(at, from, (size_t)(end - from));
	return at + (end - from);
}

// Most packets: all of it but the id's field, which is put where it stood.
static void copy(
	struct pft_sink *sink, const uint8_t *bytes, size_t size, const struct place *place, uint32_t id)
{
	uint8_t field[FIELD_MAX];
	size_t field_size = (size_t)(put_id(field, id) - field);
	size_t at = place->end ? place->at : size, end = place->end ? place->end : size;
	uint8_t *start = pft_sink_reserve(sink, size + 2 * FIELD_MAX), *next = start;

	*next++ = TRACE_PACKET_TAG;
	next = pft_varint_put(next, size - (end - at) + field_size);
	next = put_bytes(next, bytes, bytes + at);
	next = put_bytes(next, field, field + field_size);
	next = put_bytes(next, bytes + end, bytes + size);
	pft_sink_commit(sink, (size_t)(next - start));
}

// Field by field. Nothing is left to write where all of them are left out.
static void copy_odd(struct pft_sink *sink, const uint8_t *bytes, size_t size, uint32_t id)
{
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	const struct place nowhere = {.end = 0};
	uint8_t *kept = pft_sink_reserve(sink, 2 * size + 2 * FIELD_MAX) + size + 2 * FIELD_MAX, *next = kept;
	const uint8_t *at = bytes;

	for (struct pft_wire_field field; pft_wire_next(&wire, &field); at = wire.next)
		if (!is_left_out(&field))
			next = put_bytes(next, at, wire.next);
	if (next != kept)
		copy(sink, kept, (size_t)(next - kept), &nowhere, id);
}

// What an event's packet consists of when it is one of nearly all: a time, a sequence, flags and the event.
enum { TIME_TAG = 8 << 3, FLAGS_TAG = 13 << 3, EVENT_TAG = 11 << 3 | 2 };

static const uint8_t *skip_bytes(const uint8_t *at, const uint8_t *end)
{
	return at < end && *at < 0x80 && *at < end - at ? at + 1 + *at : NULL;
}

// Whether the packet is such a one; then `place` is where its sequence stands. There are 80 million of them
// in a gigabyte.
static bool is_plain_event(const uint8_t *bytes, size_t size, struct place *place)
{
	const uint8_t *end = bytes + size, *at = bytes;
	uint64_t skipped;

	while (at && at < end) {
		const uint8_t *field = at;

		switch (*at++) {
		case EVENT_TAG:
			at = skip_bytes(at, end);
			break;
		case TIME_TAG:
		case FLAGS_TAG:
			at = pft_wire_varint(at, end, &skipped);
			break;
		case PACKET_SEQUENCE_TAG:
			if (place->end)
				return false;
			at = pft_wire_varint(at, end, &place->id);
			place->at = (size_t)(field - bytes);
			place->end = at ? (size_t)(at - bytes) : 0;
			break;
		default:
			return false;
		}
	}
	return at && place->end;
}

static enum pft_packet_answer copied(const struct part *part)
{
	return part->join->sink->error ? PFT_PACKET_ENOUGH : PFT_PACKET_TAKEN;
}

// ---- calls that an earlier segment shows -------------------------------------------------------------

enum { EVENT_ARGS = 4, EVENT_TYPE = 9, EVENT_TYPE_TAG = EVENT_TYPE << 3, ARG_NAME_IID = 1 };
enum { TYPE_BEGIN = 1, TYPE_INSTANT = 3 };

static bool says_continued(const struct pft_wire_field *arg)
{
	struct pft_wire wire = pft_wire_of(arg);
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field))
		if (field.number == ARG_NAME_IID && field.value == PFT_ANNOTATION_CONTINUED)
			return true;
	return false;
}

// Where the type of the event stands that begins such a call; NULL when it is another event.
static const uint8_t *type_of_continued(const struct pft_wire_field *event)
{
	struct pft_wire wire = pft_wire_of(event);
	struct pft_wire_field field;
	const uint8_t *type = NULL;
	bool continued = false;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == EVENT_TYPE)
			type = field.value == TYPE_BEGIN ? wire.next - 1 : NULL;
		else if (field.number == EVENT_ARGS && field.has_bytes)
			continued |= says_continued(&field);
	}
	return continued ? type : NULL;
}

// A packet with its times, which those after it count from, must stay.
static const uint8_t *with_instant(const uint8_t *bytes, size_t size, const uint8_t *type)
{
	static uint8_t changed[PFT_OUT_PACKET_MAX];

	if (!type || size > sizeof changed)
		return bytes;
	memcpy(changed, bytes, size);
	changed[type - bytes] = TYPE_INSTANT;
	return changed;
}

static enum pft_packet_answer take(void *user, const uint8_t *bytes, size_t size)
{
	struct part *part = user;
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	struct place place = {.end = 0};
	struct pft_wire_field field;
	const uint8_t *at = bytes, *type = NULL;

	if (!part->continues && is_plain_event(bytes, size, &place)) {
		copy(part->join->sink, bytes, size, &place, new_id(part, place.id));
		return copied(part);
	}
	place = (struct place){.end = 0};
	for (; pft_wire_next(&wire, &field); at = wire.next) {
		switch (field.number) {
		case PACKET_SEQUENCE:
			place.odd |= place.end != 0;
			place.id = field.value;
			place.at = (size_t)(at - bytes);
			place.end = (size_t)(wire.next - bytes);
			break;
		case PACKET_EVENT:
			type = part->continues && field.has_bytes ? type_of_continued(&field) : NULL;
			break;
		case PFT_PACKET_DEFLATED:
		case PFT_PACKET_ZSTD:
			return pft_packets_unpack(&part->packets, &field);
		case PACKET_TRACK:
			meet_track(part, &field);
			break;
		case PACKET_ATTRIBUTES:
			pft_read_attributes(&field, hear_fact, part->join);
			place.odd = true;
			break;
		case PACKET_TRACE_UUID:
			place.odd = true;
			break;
		}
	}
	if (wire.malformed)
		return PFT_PACKET_DAMAGED;
	bytes = with_instant(bytes, size, type);
	if (place.odd)
		copy_odd(part->join->sink, bytes, size, new_id(part, place.id));
	else
		copy(part->join->sink, bytes, size, &place, new_id(part, place.id));
	return copied(part);
}

// ---- members ----------------------------------------------------------------------------------------

struct pft_join pft_join_open(struct pft_sink *sink)
{
	return (struct pft_join){.sink = sink};
}

static bool has_segment_before(struct pft_join *join, uint64_t process, uint32_t segment)
{
	return segment > 1 &&
	       pft_read_table_find(&join->segments, process) == (void *)(uintptr_t)(segment - 1);
}

struct pft_joined pft_join_member(struct pft_join *join, int fd, uint64_t process, uint32_t segment)
{
	struct part part = {.join = join, .continues = has_segment_before(join, process, segment)};
	struct pft_joined joined = {.wrong = NULL};

	part.packets.function = take;
	part.packets.user = &part;
	join->members++;
	joined.wrong = pft_packets_read(&part.packets, fd);
	joined.other = part.other;
	joined.cut_bytes = part.packets.cut_bytes;
	pft_facts_next(&join->facts, segment ? process : 0);
	if (segment)
		*pft_read_table_at(&join->segments, process) =
			(void *)(uintptr_t)(joined.cut_bytes ? 0 : segment);
	pft_read_table_clear(&part.sequences, NULL);
	return joined;
}

// ---- what they say of themselves --------------------------------------------------------------------

static uint8_t *put_string(uint8_t *at, uint32_t tag, const void *bytes, size_t size)
{
	at = pft_varint_put(at, tag);
	at = pft_varint_put(at, size);
	return put_bytes(at, bytes, (const uint8_t *)bytes + size);
}

static uint8_t *put_attribute(uint8_t *at, const struct pft_arg *attribute)
{
	at = put_string(at, ATTRIBUTE_KEY_TAG, attribute->name, strlen(attribute->name));
	if (attribute->kind == PFT_ARG_TEXT)
		return put_string(at, ATTRIBUTE_TEXT_TAG, attribute->text, strlen(attribute->text));
	*at++ = ATTRIBUTE_NUMBER_TAG;
	return pft_varint_put(at, attribute->number);
}

// A packet for each: an attribute, in a list of its own, in a packet.
static void tell_fact(void *user, const struct pft_arg *attribute)
{
	struct pft_join *join = user;
	size_t text = attribute->kind == PFT_ARG_TEXT ? strlen(attribute->text) : 0;
	size_t room = strlen(attribute->name) + text + 4 * FIELD_MAX;
	uint8_t *entry = pft_read_alloc(3 * room), *list = entry + room, *packet = list + room;
	size_t entry_size = (size_t)(put_attribute(entry, attribute) - entry);
	size_t list_size = (size_t)(put_string(list, ATTRIBUTES_ATTRIBUTE_TAG, entry, entry_size) - list);
	uint8_t *end = put_string(packet, PACKET_ATTRIBUTES_TAG, list, list_size);

	copy(join->sink, packet, (size_t)(end - packet), &(struct place){.end = 0}, join->last_sequence);
	free(entry);
}

void pft_join_close(struct pft_join *join)
{
	join->last_sequence++;
	pft_facts_tell(&join->facts, tell_fact, join);
	pft_tracks_free(&join->tracks);
	pft_read_table_clear(&join->segments, NULL);
	pft_facts_free(&join->facts);
}
