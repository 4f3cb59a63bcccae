// SPDX-License-Identifier: MIT
// The beginning of a trace: see member.h.
#include "encoder/merge/member.h"

#include <stdlib.h>
#include <string.h>

#include "encoder/read/attributes.h"
#include "encoder/read/clocks.h"
#include "encoder/read/memory.h"
#include "encoder/read/packets.h"
#include "encoder/read/tracks.h"

// Fields of TracePacket, and of SystemInfo.
enum { PACKET_SNAPSHOT = 6, PACKET_SYSTEM = 45, PACKET_TRACK = 60, PACKET_ATTRIBUTES = 126 };
enum { SYSTEM_MACHINE = 17 };

#define CLOCK_REALTIME_ID 1

// What this project writes first is among the first ten packets; others need not say it at all.
#define PACKETS_MAX 4096

// The wall clock may be set while a machine runs, so some difference proves nothing.
#define BOOT_APART_NS (INT64_C(60) * 1000000000)

struct look {
	struct pft_member *member;
	struct pft_packets_in packets;
};

static void read_clocks(struct pft_member *member, const struct pft_wire_field *snapshot)
{
	static struct pft_clock_table trace, sequence;
	const struct pft_clock_state *boot = &trace.clocks[PFT_CLOCK_BOOTTIME];
	const struct pft_clock_state *wall = &trace.clocks[CLOCK_REALTIME_ID];

	if (member->has_boot)
		return;
	trace = sequence = (struct pft_clock_table){0};
	pft_clocks_snapshot(&trace, &sequence, snapshot);
	member->has_boot = boot->known;
	member->boot_ns = boot->last;
	member->has_wall = wall->known;
	member->wall_ns = (int64_t)(wall->last - boot->last);
}

static void read_system(struct pft_member *member, const struct pft_wire_field *system)
{
	struct pft_wire wire = pft_wire_of(system);
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field))
		if (field.number == SYSTEM_MACHINE && field.has_bytes && field.size && !member->machine)
			member->machine = pft_read_copy(field.bytes, field.size);
}

// The process itself is described before those that it comes from.
static void read_track(struct pft_member *member, const struct pft_wire_field *descriptor)
{
	struct pft_read_table scratch = {.room = 0};
	const struct pft_read_track *track = pft_tracks_describe(&scratch, descriptor);

	if (!member->process && track && track->kind == PFT_TRACK_PROCESS)
		member->process = track->uuid;
	pft_tracks_free(&scratch);
}

static void read_attribute(void *user, const struct pft_arg *attribute)
{
	struct pft_member *member = user;

	if (attribute->kind == PFT_ARG_SIGNED && strcmp(attribute->name, "pftshim.segment") == 0)
		member->segment = (uint32_t)attribute->number;
	if (attribute->kind == PFT_ARG_TEXT && strcmp(attribute->name, "pftshim.version") == 0 &&
		!member->version)
		member->version = pft_read_copy(attribute->text, strlen(attribute->text));
}

static enum pft_packet_answer take(void *user, const uint8_t *bytes, size_t size)
{
	struct look *look = user;
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	struct pft_member *member = look->member;
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field)) {
		if (!field.has_bytes)
			continue;
		if (field.number == PACKET_SNAPSHOT)
			read_clocks(member, &field);
		else if (field.number == PACKET_SYSTEM)
			read_system(member, &field);
		else if (field.number == PACKET_TRACK)
			read_track(member, &field);
		else if (field.number == PACKET_ATTRIBUTES)
			pft_read_attributes(&field, read_attribute, member);
		else if (pft_packet_is_compressed(field.number))
			return pft_packets_unpack(&look->packets, &field);
	}
	if (wire.malformed)
		return PFT_PACKET_DAMAGED;
	return (member->machine && member->version && member->has_boot) || look->packets.count == PACKETS_MAX
		       ? PFT_PACKET_ENOUGH
		       : PFT_PACKET_TAKEN;
}

const char *pft_member_look(struct pft_member *member, int fd)
{
	struct look look = {.member = member};

	look.packets.function = take;
	look.packets.user = &look;
	return pft_packets_read(&look.packets, fd);
}

void pft_member_free(struct pft_member *member)
{
	free(member->machine);
	free(member->version);
	member->machine = member->version = NULL;
}

bool pft_member_is_of_boot(const struct pft_member *one, const struct pft_member *other)
{
	if (one->machine && other->machine && strcmp(one->machine, other->machine) != 0)
		return false;
	return !one->has_wall || !other->has_wall || llabs(one->wall_ns - other->wall_ns) < BOOT_APART_NS;
}
