// SPDX-License-Identifier: MIT
// Reads the two ends of a file: see glance.h. The rule: packets can be found from the beginning only, so
// where the last ones begin is guessed: from there the lengths of all that follow lead to the file's very
// end.
#include "encoder/executions/glance.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/read/packets.h"
#include "encoder/read/wire.h"

#define PACKET_TAG 0x0a

// The first packets hold the command line, the last one that and the totals, all of them within bounds; or
// these are in one that is compressed, of what was written at once (out.h).
#define HEAD_BYTES (80u << 10)
#define TAIL_BYTES (80u << 10)

enum { PACKET_CLOCK_SNAPSHOT = 6, PACKET_TRACK = 60, PACKET_ATTRIBUTES = 126 };
enum { TRACK_PROCESS = 3 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { SNAPSHOT_CLOCK = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, CLOCK_REALTIME_ID = 1 };
enum { ATTRIBUTES_ATTRIBUTE = 1, ATTRIBUTE_KEY = 1, ATTRIBUTE_NUMBER = 2 };

// A piece of a file, and a NUL.
struct piece {
	size_t size;
	uint8_t bytes[TAIL_BYTES + 1];
};

static void read_piece(struct piece *piece, int fd, uint64_t at, size_t size)
{
	ssize_t count = pread(fd, piece->bytes, size, (off_t)at);

	piece->size = count > 0 ? (size_t)count : 0;
	piece->bytes[piece->size] = '\0';
}

static void read_tail(struct piece *piece, int fd)
{
	struct stat found;
	uint64_t size = fstat(fd, &found) == 0 ? (uint64_t)found.st_size : 0;

	read_piece(piece, fd, size > TAIL_BYTES ? size - TAIL_BYTES : 0, TAIL_BYTES);
}

// ---- packets ----------------------------------------------------------------------------------------

static void take_process(struct pft_glance *glance, const struct pft_wire_field *process)
{
	struct pft_wire wire = pft_wire_of(process);
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == PROCESS_PID)
			glance->pid = (uint32_t)field.value;
		if (field.number == PROCESS_NAME && field.has_bytes) {
			size_t size = field.size < sizeof glance->process - 1 ? field.size
									      : sizeof glance->process - 1;

			memcpy(glance->process, field.bytes, size);
			glance->process[size] = '\0';
		}
	}
}

static void take_track(struct pft_glance *glance, const struct pft_wire_field *track)
{
	struct pft_wire wire = pft_wire_of(track);
	struct pft_wire_field field;

	while (glance->pid == 0 && pft_wire_next(&wire, &field))
		if (field.number == TRACK_PROCESS)
			take_process(glance, &field);
}

static void take_clock(struct pft_glance *glance, const struct pft_wire_field *clock)
{
	struct pft_wire wire = pft_wire_of(clock);
	struct pft_wire_field field;
	uint64_t id = 0, timestamp = 0;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == CLOCK_ID)
			id = field.value;
		if (field.number == CLOCK_TIMESTAMP)
			timestamp = field.value;
	}
	if (id == CLOCK_REALTIME_ID)
		glance->start_ns = timestamp;
}

static void take_snapshot(struct pft_glance *glance, const struct pft_wire_field *snapshot)
{
	struct pft_wire wire = pft_wire_of(snapshot);
	struct pft_wire_field field;

	while (glance->start_ns == 0 && pft_wire_next(&wire, &field))
		if (field.number == SNAPSHOT_CLOCK)
			take_clock(glance, &field);
}

static void take_total(struct pft_glance *glance, const char *key, size_t size, uint64_t number)
{
	static const char produced[] = "pftshim.produced", dropped[] = "pftshim.dropped",
			  duration[] = "pftshim.duration_ns";

	if (size == sizeof produced - 1 && memcmp(key, produced, size) == 0) {
		glance->events = number;
		glance->ended = true;
	} else if (size == sizeof dropped - 1 && memcmp(key, dropped, size) == 0) {
		glance->dropped = number;
	} else if (size == sizeof duration - 1 && memcmp(key, duration, size) == 0) {
		glance->duration_ns = number;
	}
}

static void take_attribute(struct pft_glance *glance, const struct pft_wire_field *attribute)
{
	struct pft_wire wire = pft_wire_of(attribute);
	struct pft_wire_field field, key = {0};

	while (pft_wire_next(&wire, &field)) {
		if (field.number == ATTRIBUTE_KEY && field.has_bytes)
			key = field;
		if (field.number == ATTRIBUTE_NUMBER && key.number != 0)
			take_total(glance, (const char *)key.bytes, key.size, field.value);
	}
}

static void take_attributes(struct pft_glance *glance, const struct pft_wire_field *attributes)
{
	struct pft_wire wire = pft_wire_of(attributes);
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field))
		if (field.number == ATTRIBUTES_ATTRIBUTE)
			take_attribute(glance, &field);
}

static void take_compressed(struct pft_glance *glance, const struct pft_wire_field *compressed);

static void take_packet(struct pft_glance *glance, const uint8_t *bytes, size_t size)
{
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field)) {
		if (pft_packet_is_compressed(field.number))
			take_compressed(glance, &field);
		if (field.number == PACKET_TRACK)
			take_track(glance, &field);
		if (field.number == PACKET_CLOCK_SNAPSHOT)
			take_snapshot(glance, &field);
		if (field.number == PACKET_ATTRIBUTES)
			take_attributes(glance, &field);
	}
}

static enum pft_packet_answer take_inner(void *glance, const uint8_t *bytes, size_t size)
{
	struct pft_wire wire = {.next = bytes, .end = bytes + size};
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field))
		if (pft_packet_is_compressed(field.number)) // twice
			return PFT_PACKET_DAMAGED;
	take_packet(glance, bytes, size);
	return PFT_PACKET_TAKEN;
}

static void take_compressed(struct pft_glance *glance, const struct pft_wire_field *compressed)
{
	struct pft_packets_in packets = {.function = take_inner, .user = glance};

	pft_packets_unpack(&packets, compressed);
}

// Where the packet at `at` ends, and its content begins; 0 when no whole one stands there.
static size_t packet_end(const struct piece *piece, size_t at, size_t *content)
{
	const uint8_t *end = piece->bytes + piece->size, *behind;
	uint64_t size;

	if (piece->bytes[at] != PACKET_TAG)
		return 0;
	behind = pft_wire_varint(piece->bytes + at + 1, end, &size);
	if (!behind || size > (uint64_t)(end - behind))
		return 0;
	*content = (size_t)(behind - piece->bytes);
	return *content + (size_t)size;
}

static void take_packets(struct pft_glance *glance, const struct piece *piece, size_t at)
{
	size_t content, end;

	for (; at < piece->size && (end = packet_end(piece, at, &content)) != 0; at = end)
		take_packet(glance, piece->bytes + content, end - content);
}

// The first place from which packets lead to the end.
static size_t find_packets(const struct piece *piece)
{
	static bool leads[TAIL_BYTES + 1];
	size_t first = piece->size, content, end;

	leads[piece->size] = true;
	for (size_t at = piece->size; at-- > 0;) {
		end = packet_end(piece, at, &content);
		leads[at] = end != 0 && leads[end];
		if (leads[at])
			first = at;
	}
	return first;
}

void pft_glance_trace(struct pft_glance *glance, int fd, enum pft_glance_at at)
{
	static struct piece piece;

	if (at == PFT_GLANCE_BEGINNING) {
		read_piece(&piece, fd, 0, HEAD_BYTES);
		take_packets(glance, &piece, 0);
	} else {
		read_tail(&piece, fd);
		take_packets(glance, &piece, find_packets(&piece));
	}
}

// ---- JSON -------------------------------------------------------------------------------------------

#define PRODUCED "\"pftshim.produced\":"

// The first line names the process.
#define JSON_HEAD_BYTES 256

// The number behind the last `key`, or 0. In a string of the file the quotes would have a backslash before.
static uint64_t number_behind(const struct piece *piece, const char *key)
{
	const char *next = (const char *)piece->bytes, *found = NULL;

	while ((next = strstr(next, key)) != NULL) {
		next += strlen(key);
		found = next;
	}
	return found ? strtoull(found, NULL, 10) : 0;
}

void pft_glance_json(struct pft_glance *glance, int fd, enum pft_glance_at at)
{
	static struct piece piece;

	if (at == PFT_GLANCE_BEGINNING) {
		read_piece(&piece, fd, 0, JSON_HEAD_BYTES);
		glance->pid = (uint32_t)number_behind(&piece, "[\n{\"ph\":\"M\",\"pid\":");
		return;
	}
	read_tail(&piece, fd);
	glance->ended = strstr((const char *)piece.bytes, PRODUCED) != NULL;
	glance->events = number_behind(&piece, PRODUCED);
	glance->dropped = number_behind(&piece, "\"pftshim.dropped\":");
	glance->duration_ns = number_behind(&piece, "\"pftshim.duration_ns\":");
}
