// SPDX-License-Identifier: MIT
// What one packet sequence has said since its state was cleared: interned names and defaults. Called by
// reader.c and events.c.
#ifndef PFT_READ_INTERNED_H
#define PFT_READ_INTERNED_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/read/clocks.h"
#include "encoder/read/table.h"
#include "encoder/read/wire.h"

enum pft_interned_kind {
	PFT_INTERNED_CATEGORY,
	PFT_INTERNED_NAME,
	PFT_INTERNED_ARG_NAME,
	PFT_INTERNED_ARG_TEXT,
	PFT_INTERNED_KINDS,
};

struct pft_read_sequence {
	bool valid; // its state was started and nothing was lost since
	bool has_track;
	uint64_t track; // default of its events
	uint32_t clock; // default of its packets
	struct pft_clock_table *clocks; // NULL until one is known
	struct pft_read_table texts[PFT_INTERNED_KINDS];
	uint64_t last_ns; // of its events
};

struct pft_read_sequence *pft_sequence_at(struct pft_read_table *sequences, uint32_t id);

// Forgets names and defaults; the state is valid. The clocks go on.
void pft_sequence_clear(struct pft_read_sequence *sequence);

// Takes InternedData and TracePacketDefaults. False when they are malformed.
bool pft_sequence_intern(struct pft_read_sequence *sequence, const struct pft_wire_field *data);
bool pft_sequence_default(struct pft_read_sequence *sequence, const struct pft_wire_field *defaults);

// NULL when it was not interned.
const char *pft_sequence_text(
	const struct pft_read_sequence *sequence, enum pft_interned_kind kind, uint64_t iid);

void pft_sequences_free(struct pft_read_table *sequences);

#endif
