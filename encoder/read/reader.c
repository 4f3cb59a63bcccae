// SPDX-License-Identifier: MIT
// Packets of a trace, one after the other: see reader.h.
#include "encoder/read/reader.h"

#include <stdbool.h>

#include "encoder/read/attributes.h"
#include "encoder/read/clocks.h"
#include "encoder/read/events.h"
#include "encoder/read/interned.h"
#include "encoder/read/memory.h"
#include "encoder/read/packets.h"
#include "encoder/read/tracks.h"

// Fields of TracePacket.
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_CLEARED = 41,
	PACKET_DROPPED = 42,
	PACKET_CLOCK = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60,
	PACKET_ATTRIBUTES = 126,
};

#define FLAG_CLEARED 1
#define FLAG_NEEDS_STATE 2

struct reader {
	pft_read_function *function;
	void *user;
	struct pft_read_result result;
	struct pft_read_table tracks, sequences;
	struct pft_clock_table clocks;
	struct pft_read_lists lists;
	struct pft_packets_in packets;
};

// The fields of a packet; a number of 0: not there. Of what stands twice, the last counts.
struct packet {
	struct pft_wire_field snapshot, timestamp, event, interned, clock, defaults, track, attributes,
		compressed;
	uint64_t sequence, flags, dropped;
	bool cleared;
};

static bool parse(struct packet *packet, const uint8_t *bytes, size_t size)
{
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	struct pft_wire_field field;

	*packet = (struct packet){0};
	while (pft_wire_next(&wire, &field)) {
		struct pft_wire_field *known = NULL;

		switch (field.number) {
		case PACKET_CLOCK_SNAPSHOT:
			known = &packet->snapshot;
			break;
		case PACKET_EVENT:
			known = &packet->event;
			break;
		case PACKET_INTERNED:
			known = &packet->interned;
			break;
		case PFT_PACKET_DEFLATED:
		case PFT_PACKET_ZSTD:
			known = &packet->compressed;
			break;
		case PACKET_DEFAULTS:
			known = &packet->defaults;
			break;
		case PACKET_TRACK:
			known = &packet->track;
			break;
		case PACKET_ATTRIBUTES:
			known = &packet->attributes;
			break;
		case PACKET_TIMESTAMP:
			packet->timestamp = field;
			break;
		case PACKET_CLOCK:
			packet->clock = field;
			break;
		case PACKET_SEQUENCE:
			packet->sequence = field.value;
			break;
		case PACKET_FLAGS:
			packet->flags = field.value;
			break;
		case PACKET_CLEARED:
			packet->cleared = field.value != 0;
			break;
		case PACKET_DROPPED:
			packet->dropped = field.value;
			break;
		}
		if (known && !field.has_bytes)
			return false;
		if (known)
			*known = field;
	}
	return !wire.malformed;
}

static void tell(struct reader *reader, const struct pft_read_event *event)
{
	reader->function(reader->user, event);
}

// ---- parts of a packet ------------------------------------------------------------------------------

static void snapshot(struct reader *reader, struct pft_read_sequence *sequence, const struct packet *packet)
{
	if (!packet->snapshot.number)
		return;
	if (!sequence->clocks)
		sequence->clocks = pft_read_alloc(sizeof *sequence->clocks);
	pft_clocks_snapshot(&reader->clocks, sequence->clocks, &packet->snapshot);
}

static void describe(struct reader *reader, const struct packet *packet)
{
	struct pft_read_event event = {.kind = PFT_READ_TRACK};

	if (!packet->track.number)
		return;
	event.track = pft_tracks_describe(&reader->tracks, &packet->track);
	if (event.track)
		tell(reader, &event);
}

static bool time_of(
	struct reader *reader, struct pft_read_sequence *sequence, const struct packet *packet, uint64_t *ns)
{
	static struct pft_clock_table none;
	uint32_t clock = packet->clock.number ? (uint32_t)packet->clock.value : sequence->clock;

	return packet->timestamp.number &&
	       pft_clocks_time(&reader->clocks, sequence->clocks ? sequence->clocks : &none, clock,
		       packet->timestamp.value, ns);
}

// The clock of the sequence stands where the loss was noticed: its snapshot comes with the cleared state.
static void tell_loss(struct reader *reader, struct pft_read_sequence *sequence, const struct packet *packet)
{
	const struct packet now = {.timestamp = {.number = PACKET_TIMESTAMP}};
	struct pft_read_event event = {.kind = PFT_READ_LOST, .lost = packet->dropped};

	if (!packet->dropped || !sequence->has_track)
		return;
	if (sequence->clock <= PFT_CLOCK_TRACE_LAST || !time_of(reader, sequence, &now, &event.ns))
		event.ns = sequence->last_ns;
	event.track = pft_tracks_at(&reader->tracks, sequence->track);
	tell(reader, &event);
}

static bool track_event(
	struct reader *reader, struct pft_read_sequence *sequence, const struct packet *packet)
{
	struct pft_read_event event;
	enum pft_event_found found;
	uint64_t ns;
	bool timed;

	if (!packet->event.number)
		return true;
	timed = time_of(reader, sequence, packet, &ns);
	found = pft_read_track_event(&event, &reader->lists, sequence, &reader->tracks, &packet->event);
	if (found == PFT_EVENT_MALFORMED)
		return false;
	if (found != PFT_EVENT_GOOD || !timed) {
		reader->result.skipped++;
		return true;
	}
	event.ns = sequence->last_ns = ns;
	reader->result.events++;
	tell(reader, &event);
	return true;
}

static void tell_attribute(void *user, const struct pft_arg *attribute)
{
	const struct pft_read_event event = {
		.kind = PFT_READ_ATTRIBUTE, .name = attribute->name, .args = attribute, .arg_count = 1};

	tell(user, &event);
}

static bool attributes(struct reader *reader, const struct packet *packet)
{
	return !packet->attributes.number || pft_read_attributes(&packet->attributes, tell_attribute, reader);
}

// ---- packets ----------------------------------------------------------------------------------------

static void begin_state(struct pft_read_sequence *sequence, const struct packet *packet)
{
	if (packet->dropped)
		sequence->valid = false;
	if (packet->flags & FLAG_CLEARED || packet->cleared)
		pft_sequence_clear(sequence);
}

static bool take(struct reader *reader, const struct packet *packet)
{
	struct pft_read_sequence *sequence = pft_sequence_at(&reader->sequences, (uint32_t)packet->sequence);

	begin_state(sequence, packet);
	if (packet->flags & FLAG_NEEDS_STATE && !sequence->valid) {
		reader->result.skipped += packet->event.number != 0;
		return true;
	}
	if (packet->defaults.number && !pft_sequence_default(sequence, &packet->defaults))
		return false;
	snapshot(reader, sequence, packet);
	if (packet->interned.number && !pft_sequence_intern(sequence, &packet->interned))
		return false;
	describe(reader, packet);
	tell_loss(reader, sequence, packet);
	return track_event(reader, sequence, packet) && attributes(reader, packet);
}

static enum pft_packet_answer take_packet(void *user, const uint8_t *bytes, size_t size)
{
	struct reader *reader = user;
	struct packet packet;

	if (!parse(&packet, bytes, size))
		return PFT_PACKET_DAMAGED;
	if (packet.compressed.number)
		return pft_packets_unpack(&reader->packets, &packet.compressed);
	return take(reader, &packet) ? PFT_PACKET_TAKEN : PFT_PACKET_DAMAGED;
}

// ---- the file ---------------------------------------------------------------------------------------

static void release(struct reader *reader)
{
	pft_tracks_free(&reader->tracks);
	pft_sequences_free(&reader->sequences);
	pft_read_lists_free(&reader->lists);
}

struct pft_read_result pft_read(int fd, pft_read_function *function, void *user)
{
	struct reader reader = {.function = function, .user = user};

	reader.packets.function = take_packet;
	reader.packets.user = &reader;
	reader.result.wrong = pft_packets_read(&reader.packets, fd);
	if (!reader.result.wrong && reader.packets.cut_bytes)
		reader.result.wrong = "ends in the middle of a packet";
	reader.result.packets = reader.packets.count;
	release(&reader);
	return reader.result;
}
