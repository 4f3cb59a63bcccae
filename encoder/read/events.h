// SPDX-License-Identifier: MIT
// A TrackEvent becomes the event that the caller of the reader sees. Called by reader.c.
#ifndef PFT_READ_EVENTS_H
#define PFT_READ_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/read/args.h"
#include "encoder/read/interned.h"
#include "encoder/read/reader.h"
#include "encoder/read/wire.h"

// Lists that are used again for every event.
struct pft_read_lists {
	struct pft_read_args args;
	uint64_t *flows, *ending_flows;
	size_t flow_room, ending_flow_room;
	struct pft_arena arena; // texts of one event
	struct pft_arena_mark start;
};

enum pft_event_found { PFT_EVENT_GOOD, PFT_EVENT_UNKNOWN, PFT_EVENT_NO_TRACK, PFT_EVENT_MALFORMED };

// Fills `event` but for its time. It is valid until the next one.
enum pft_event_found pft_read_track_event(struct pft_read_event *event, struct pft_read_lists *lists,
	const struct pft_read_sequence *sequence, struct pft_read_table *tracks,
	const struct pft_wire_field *message);

void pft_read_lists_free(struct pft_read_lists *lists);

#endif
