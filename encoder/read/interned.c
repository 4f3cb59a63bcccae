// SPDX-License-Identifier: MIT
// State of packet sequences: see interned.h.
#include "encoder/read/interned.h"

#include <stdlib.h>

#include "encoder/read/memory.h"

// Fields of InternedData, of its entries, of TracePacketDefaults and of TrackEventDefaults.
enum { DATA_CATEGORIES = 1, DATA_NAMES = 2, DATA_ARG_NAMES = 3, DATA_ARG_TEXTS = 29 };
enum { ENTRY_IID = 1, ENTRY_TEXT = 2 };
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };
enum { EVENT_TRACK = 11 };

struct pft_read_sequence *pft_sequence_at(struct pft_read_table *sequences, uint32_t id)
{
	void **place = pft_read_table_at(sequences, id);
	struct pft_read_sequence *sequence = *place;

	if (sequence)
		return sequence;
	sequence = pft_read_alloc(sizeof *sequence);
	sequence->clock = PFT_CLOCK_BOOTTIME;
	*place = sequence;
	return sequence;
}

void pft_sequence_clear(struct pft_read_sequence *sequence)
{
	for (int kind = 0; kind < PFT_INTERNED_KINDS; kind++)
		pft_read_table_clear(&sequence->texts[kind], free);
	sequence->valid = true;
	sequence->has_track = false;
	sequence->clock = PFT_CLOCK_BOOTTIME;
}

static int kind_of(uint32_t number)
{
	switch (number) {
	case DATA_CATEGORIES:
		return PFT_INTERNED_CATEGORY;
	case DATA_NAMES:
		return PFT_INTERNED_NAME;
	case DATA_ARG_NAMES:
		return PFT_INTERNED_ARG_NAME;
	case DATA_ARG_TEXTS:
		return PFT_INTERNED_ARG_TEXT;
	default:
		return -1;
	}
}

static bool add(struct pft_read_table *texts, const struct pft_wire_field *entry)
{
	struct pft_wire wire = pft_wire_of(entry);
	struct pft_wire_field field, text = {0};
	uint64_t iid = 0;
	void **place;

	while (pft_wire_next(&wire, &field)) {
		if (field.number == ENTRY_IID)
			iid = field.value;
		else if (field.number == ENTRY_TEXT && field.has_bytes)
			text = field;
	}
	if (wire.malformed)
		return false;
	place = pft_read_table_at(texts, iid);
	free(*place);
	*place = pft_read_copy(text.bytes, text.size);
	return true;
}

bool pft_sequence_intern(struct pft_read_sequence *sequence, const struct pft_wire_field *data)
{
	struct pft_wire wire = pft_wire_of(data);
	struct pft_wire_field field;
	bool good = true;

	while (good && pft_wire_next(&wire, &field))
		if (field.has_bytes && kind_of(field.number) >= 0)
			good = add(&sequence->texts[kind_of(field.number)], &field);
	return good && !wire.malformed;
}

static bool default_event(struct pft_read_sequence *sequence, const struct pft_wire_field *defaults)
{
	struct pft_wire wire = pft_wire_of(defaults);
	struct pft_wire_field field;

	while (pft_wire_next(&wire, &field)) {
		if (field.number != EVENT_TRACK)
			continue;
		sequence->has_track = true;
		sequence->track = field.value;
	}
	return !wire.malformed;
}

bool pft_sequence_default(struct pft_read_sequence *sequence, const struct pft_wire_field *defaults)
{
	struct pft_wire wire = pft_wire_of(defaults);
	struct pft_wire_field field;
	bool good = true;

	while (good && pft_wire_next(&wire, &field)) {
		if (field.number == DEFAULTS_EVENT && field.has_bytes)
			good = default_event(sequence, &field);
		else if (field.number == DEFAULTS_CLOCK)
			sequence->clock = (uint32_t)field.value;
	}
	return good && !wire.malformed;
}

const char *pft_sequence_text(
	const struct pft_read_sequence *sequence, enum pft_interned_kind kind, uint64_t iid)
{
	return pft_read_table_find(&sequence->texts[kind], iid);
}

static void drop(void *value)
{
	struct pft_read_sequence *sequence = value;

	pft_sequence_clear(sequence);
	free(sequence->clocks);
	free(sequence);
}

void pft_sequences_free(struct pft_read_table *sequences)
{
	pft_read_table_clear(sequences, drop);
}
