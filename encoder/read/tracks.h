// SPDX-License-Identifier: MIT
// The tracks of a trace, by uuid. Called by reader.c.
#ifndef PFT_READ_TRACKS_H
#define PFT_READ_TRACKS_H

#include <stdint.h>

#include "encoder/read/reader.h"
#include "encoder/read/table.h"
#include "encoder/read/wire.h"

// The track of a uuid; one that nothing is known of when it is new.
struct pft_read_track *pft_tracks_at(struct pft_read_table *tracks, uint64_t uuid);

// Takes a TrackDescriptor. The track; NULL when it names none, or says nothing new but a description, which
// nobody here asks for.
struct pft_read_track *pft_tracks_describe(
	struct pft_read_table *tracks, const struct pft_wire_field *descriptor);

void pft_tracks_free(struct pft_read_table *tracks);

#endif
