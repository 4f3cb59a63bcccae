// SPDX-License-Identifier: MIT
// Track descriptors: see tracks.h.
#include "encoder/read/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "encoder/read/memory.h"

// Fields of TrackDescriptor, ProcessDescriptor and ThreadDescriptor.
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_STATIC_NAME = 10,
	TRACK_DESCRIPTION = 14,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

// Parents may go round in a file that nobody vouches for.
#define PARENTS_MAX 64

struct pft_read_track *pft_tracks_at(struct pft_read_table *tracks, uint64_t uuid)
{
	void **place = pft_read_table_at(tracks, uuid);
	struct pft_read_track *track = *place;

	if (track)
		return track;
	track = pft_read_alloc(sizeof *track);
	track->uuid = uuid;
	*place = track;
	return track;
}

static bool has_name(const struct pft_read_track *track, const struct pft_wire_field *field)
{
	return track->name && strlen(track->name) == field->size &&
	       memcmp(track->name, field->bytes, field->size) == 0;
}

static void set_name(struct pft_read_track *track, const struct pft_wire_field *field)
{
	if (!field->has_bytes || !field->size || has_name(track, field))
		return;
	free(track->name);
	track->name = pft_read_copy(field->bytes, field->size);
}

static void set_process(struct pft_read_track *track, const struct pft_wire_field *process)
{
	struct pft_wire wire = pft_wire_of(process);
	struct pft_wire_field field;

	track->kind = PFT_TRACK_PROCESS;
	while (pft_wire_next(&wire, &field)) {
		if (field.number == PROCESS_PID)
			track->pid = (uint32_t)field.value;
		else if (field.number == PROCESS_NAME)
			set_name(track, &field);
	}
}

static void set_thread(struct pft_read_track *track, const struct pft_wire_field *thread)
{
	struct pft_wire wire = pft_wire_of(thread);
	struct pft_wire_field field;

	track->kind = PFT_TRACK_THREAD;
	while (pft_wire_next(&wire, &field)) {
		if (field.number == THREAD_PID)
			track->pid = (uint32_t)field.value;
		else if (field.number == THREAD_TID)
			track->tid = field.value;
		else if (field.number == THREAD_NAME)
			set_name(track, &field);
	}
}

static void set(
	struct pft_read_table *tracks, struct pft_read_track *track, const struct pft_wire_field *field)
{
	switch (field->number) {
	case TRACK_NAME:
	case TRACK_STATIC_NAME:
		set_name(track, field);
		break;
	case TRACK_PROCESS:
		set_process(track, field);
		break;
	case TRACK_THREAD:
		set_thread(track, field);
		break;
	case TRACK_PARENT:
		track->parent = pft_tracks_at(tracks, field->value);
		break;
	case TRACK_COUNTER:
		track->kind = PFT_TRACK_COUNTER;
		break;
	}
}

static bool find_uuid(const struct pft_wire_field *descriptor, uint64_t *uuid)
{
	struct pft_wire wire = pft_wire_of(descriptor);
	struct pft_wire_field field;
	bool found = false;

	while (pft_wire_next(&wire, &field)) {
		if (field.number != TRACK_UUID)
			continue;
		*uuid = field.value;
		found = true;
	}
	return found;
}

struct pft_read_track *pft_tracks_describe(
	struct pft_read_table *tracks, const struct pft_wire_field *descriptor)
{
	struct pft_wire wire = pft_wire_of(descriptor);
	struct pft_wire_field field;
	struct pft_read_track *track, before;
	bool is_account = false;
	uint64_t uuid;

	if (!find_uuid(descriptor, &uuid))
		return NULL;
	track = pft_tracks_at(tracks, uuid);
	before = *track;
	if (track->kind == PFT_TRACK_UNKNOWN)
		track->kind = PFT_TRACK_OTHER;
	while (pft_wire_next(&wire, &field)) {
		set(tracks, track, &field);
		is_account |= field.number == TRACK_DESCRIPTION;
	}
	return is_account && memcmp(&before, track, sizeof before) == 0 ? NULL : track;
}

const struct pft_read_track *pft_read_owner(const struct pft_read_track *track)
{
	for (int i = 0; track && i < PARENTS_MAX; i++, track = track->parent)
		if (track->kind == PFT_TRACK_THREAD || track->kind == PFT_TRACK_PROCESS)
			return track;
	return NULL;
}

static void drop(void *value)
{
	struct pft_read_track *track = value;

	free(track->name);
	free(track);
}

void pft_tracks_free(struct pft_read_table *tracks)
{
	pft_read_table_clear(tracks, drop);
}
