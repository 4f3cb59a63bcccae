// SPDX-License-Identifier: MIT
// Packet sequences: see sequence.h. Called by trace.c, flusher context.
#include "encoder/sequence.h"

static struct pft_sequence *new_sequence(struct pft_sequences *shared)
{
	struct pft_sequence *sequence = pft_arena_alloc(shared->memory, sizeof *sequence);

	if (!sequence)
		return NULL;
	sequence->shared = shared;
	sequence->id = ++shared->last;
	sequence->older = shared->all;
	shared->all = sequence;
	return sequence;
}

struct pft_sequence *pft_sequence_take(struct pft_sequences *shared, uint64_t track_uuid)
{
	struct pft_sequence *sequence = shared->released;

	if (sequence)
		shared->released = sequence->next;
	else
		sequence = new_sequence(shared);
	if (!sequence)
		return NULL;
	sequence->track_uuid = track_uuid;
	sequence->started = false;
	sequence->tracks = 1;
	return sequence;
}

void pft_sequence_release(struct pft_sequence *sequence)
{
	if (--sequence->tracks)
		return;
	sequence->next = sequence->shared->released;
	sequence->shared->released = sequence;
}

// The snapshot speaks of the clock's moment, not of the reading's: all clocks are moved by the same amount,
// which is right while they run at nearly the same rate.
static void write_state(struct pft_sequence *sequence, uint64_t dropped)
{
	const struct pft_clocks *clocks = &sequence->shared->clocks;
	uint64_t shift = sequence->last_ns - clocks->boot_ns; // may be below zero: it wraps, and wraps back
	struct pft_state state = {
		.sequence = sequence->id,
		.first = !sequence->opened,
		.dropped = dropped,
		.track_uuid = sequence->track_uuid,
		.boot_ns = sequence->last_ns,
		.monotonic_ns = clocks->monotonic_ns + shift,
		.real_ns = clocks->real_ns + shift,
		.salt = sequence->shared->salt,
	};

	pft_packet_state(&sequence->shared->packets, &state);
}

void pft_sequence_start(struct pft_sequence *sequence, uint64_t ns, uint64_t dropped)
{
	if (ns > sequence->last_ns)
		sequence->last_ns = ns;
	write_state(sequence, dropped);
	pft_intern_clear(&sequence->intern);
	pft_callstacks_clear(&sequence->callstacks);
	sequence->annotated = 0;
	sequence->opened = sequence->started = true;
}

void pft_sequences_turn(struct pft_sequences *shared)
{
	for (struct pft_sequence *sequence = shared->all; sequence; sequence = sequence->older)
		sequence->opened = sequence->started = false;
}

static void write_definitions(
	struct pft_sequence *sequence, int fresh, struct pft_iids iids, struct pft_shown shown)
{
	const struct pft_names *names = &sequence->shared->names;
	struct pft_interned interned = {0};

	if (fresh & PFT_INTERN_NEW_NAME) {
		interned.name_iid = iids.name;
		interned.name = pft_strings_text(&names->strings, shown.name);
	}
	if (fresh & PFT_INTERN_NEW_CATEGORY) {
		interned.category_iid = iids.category;
		interned.category = pft_strings_text(&names->strings, shown.category);
	}
	pft_packet_interned(&sequence->shared->packets, sequence->id, &interned);
}

struct pft_iids pft_sequence_define(struct pft_sequence *sequence, uint32_t id)
{
	struct pft_shown shown = pft_names_show(&sequence->shared->names, id);
	struct pft_iids iids = {0};
	int fresh;

	if (!shown.name)
		return iids;
	fresh = pft_intern_add(&sequence->intern, sequence->shared->memory, id, shown);
	if (fresh < 0)
		return iids;
	iids = pft_intern_find(&sequence->intern, id);
	if (fresh)
		write_definitions(sequence, fresh, iids, shown);
	return iids;
}

uint32_t pft_sequence_callstack(struct pft_sequence *sequence, uint32_t stack)
{
	struct pft_sequences *shared = sequence->shared;

	return pft_callstacks_define(
		&sequence->callstacks, &shared->stacks, &shared->packets, sequence->id, stack);
}
