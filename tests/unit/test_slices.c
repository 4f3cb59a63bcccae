// SPDX-License-Identifier: MIT
// Unit tests of encoder/slices.c: its bytes are those that protobuf-c writes. Run by Criterion.
#include "encoder/slices.h"

#include <criterion/criterion.h>
#include <string.h>

#include "proto/pftrace.pb-c.h"

// The packet as protobuf-c builds it, within a Trace. Returns the size.
static size_t reference(uint8_t *to, enum pft_slice_type type, const struct pft_event *event)
{
	Pft__Proto__TracePacket packet = PFT__PROTO__TRACE_PACKET__INIT, *packets = &packet;
	Pft__Proto__TrackEvent message = PFT__PROTO__TRACK_EVENT__INIT;
	Pft__Proto__Trace trace = PFT__PROTO__TRACE__INIT;
	uint64_t category = event->category_iid;

	message.has_type = 1;
	message.type = (Pft__Proto__TrackEvent__Type)type;
	message.has_name_iid = event->name_iid != 0;
	message.name_iid = event->name_iid;
	message.category_iids = &category;
	message.n_category_iids = category != 0;
	message.has_callstack_iid = event->callstack_iid != 0;
	message.callstack_iid = event->callstack_iid;
	message.has_track_uuid = event->track_uuid != 0;
	message.track_uuid = event->track_uuid;
	packet.track_event = &message;
	packet.has_timestamp = packet.has_trusted_packet_sequence_id = packet.has_sequence_flags = 1;
	packet.timestamp = event->ns;
	packet.trusted_packet_sequence_id = event->sequence;
	packet.sequence_flags = 2;
	packet.has_timestamp_clock_id = event->absolute;
	packet.timestamp_clock_id = 6;
	trace.packet = &packets;
	trace.n_packet = 1;
	return pft__proto__trace__pack(&trace, to);
}

static size_t check(enum pft_slice_type type, struct pft_event event)
{
	uint8_t bytes[PFT_SLICE_BYTES_MAX + 1], expected[128];
	size_t expected_size = reference(expected, type, &event);
	size_t size;

	memset(bytes, 0xaa, sizeof bytes);
	size = (size_t)(pft_slice_put(bytes, type, &event) - bytes);
	cr_assert_leq(size, PFT_SLICE_BYTES_MAX);
	cr_assert_eq(size, expected_size);
	cr_assert_arr_eq(bytes, expected, size);
	cr_assert_eq(bytes[size], 0xaa);
	return size;
}

Test(slices, are_the_bytes_that_protobuf_writes)
{
	static const uint64_t times[] = {0, 1, 127, 128, 16383, 16384, 1000000007, UINT64_MAX};
	static const uint32_t ids[] = {1, 127, 128, 16384, UINT32_MAX};

	for (size_t t = 0; t < sizeof times / sizeof times[0]; t++)
		for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
			struct pft_event event = {.ns = times[t], .sequence = ids[i]};

			check(PFT_SLICE_END, event);
			event.name_iid = ids[i];
			check(PFT_SLICE_BEGIN, event);
			event.category_iid = ids[(i + 1) % 5];
			check(PFT_SLICE_BEGIN, event);
			event.callstack_iid = ids[(i + 2) % 5];
			check(PFT_SLICE_BEGIN, event);
		}
}

Test(slices, name_another_track_and_another_clock)
{
	struct pft_event event = {.ns = 77, .sequence = 3, .name_iid = 9, .track_uuid = UINT64_C(1) << 63};

	check(PFT_SLICE_BEGIN, event);
	event.absolute = true;
	check(PFT_SLICE_BEGIN, event);
	check(PFT_SLICE_END, event);
}

Test(slices, fit_their_room_with_every_field_at_its_longest)
{
	struct pft_event event = {.ns = UINT64_MAX,
		.track_uuid = UINT64_MAX,
		.sequence = UINT32_MAX,
		.name_iid = UINT32_MAX,
		.category_iid = UINT32_MAX,
		.callstack_iid = UINT32_MAX,
		.absolute = true};

	check(PFT_SLICE_BEGIN, event);
}

Test(slices, take_28_bytes_a_call_with_small_ids)
{
	struct pft_event event = {.ns = 16383, .sequence = 127, .name_iid = 127};
	size_t begin = check(PFT_SLICE_BEGIN, event);

	event.name_iid = 0;
	cr_assert_eq(begin + check(PFT_SLICE_END, event), 28);
}
