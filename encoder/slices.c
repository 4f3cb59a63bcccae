// SPDX-License-Identifier: MIT
// Slice packets as bytes: see slices.h. Called for every event, by the flusher. Nothing in it allocates,
// branches on more than optional fields, or calls out.
#include "encoder/slices.h"

#include "encoder/varint.h"

// A field's number and wire type in one byte; wire type 0 is a varint, 2 a length and bytes.
#define VARINT(number) ((number) << 3)
#define BYTES(number) ((number) << 3 | 2)

enum {
	TRACE_PACKET = BYTES(1),

	PACKET_TIMESTAMP = VARINT(8),
	PACKET_SEQUENCE = VARINT(10),
	PACKET_TRACK_EVENT = BYTES(11),
	PACKET_FLAGS = VARINT(13),

	EVENT_CATEGORY = VARINT(3),
	EVENT_TYPE = VARINT(9),
	EVENT_NAME = VARINT(10),
	EVENT_TRACK = VARINT(11),
};

static inline uint8_t *put_field(uint8_t *at, uint8_t tag, uint64_t value)
{
	*at++ = tag;
	return pft_varint_put(at, value);
}

// The length goes into the byte before `body`: with all fields at their longest it is below 128.
static inline void close_length(uint8_t *body, const uint8_t *end)
{
	body[-1] = (uint8_t)(end - body);
}

// The field's number, 56, takes a tag of two bytes.
static inline uint8_t *put_callstack(uint8_t *at, uint64_t iid)
{
	at[0] = 0xc0;
	at[1] = 0x03;
	return pft_varint_put(at + 2, iid);
}

static inline uint8_t *put_track_event(uint8_t *at, enum pft_slice_type type, const struct pft_event *event)
{
	uint8_t *body = at + 2;

	at[0] = PACKET_TRACK_EVENT;
	at = body;
	if (event->category_iid)
		at = put_field(at, EVENT_CATEGORY, event->category_iid);
	at = put_field(at, EVENT_TYPE, type);
	if (event->name_iid)
		at = put_field(at, EVENT_NAME, event->name_iid);
	if (event->track_uuid)
		at = put_field(at, EVENT_TRACK, event->track_uuid);
	if (event->callstack_iid)
		at = put_callstack(at, event->callstack_iid);
	close_length(body, at);
	return at;
}

// timestamp_clock_id = BOOTTIME; the field's number, 58, takes a tag of two bytes.
static inline uint8_t *put_boottime(uint8_t *at)
{
	at[0] = 0xd0;
	at[1] = 0x03;
	at[2] = 6;
	return at + 3;
}

uint8_t *pft_slice_put(uint8_t *at, enum pft_slice_type type, const struct pft_event *event)
{
	uint8_t *body = at + 2;

	at[0] = TRACE_PACKET;
	at = put_field(body, PACKET_TIMESTAMP, event->ns);
	at = put_field(at, PACKET_SEQUENCE, event->sequence);
	at = put_track_event(at, type, event);
	at = put_field(at, PACKET_FLAGS, PFT_SEQUENCE_NEEDS_STATE);
	if (event->absolute)
		at = put_boottime(at);
	close_length(body, at);
	return at;
}
