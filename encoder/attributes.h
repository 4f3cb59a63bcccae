// SPDX-License-Identifier: MIT
// What a trace says of its process and of itself, beside events: how it was recorded, and what became of
// them. Called by packet.c and trace.c, which write it down. Flusher context. Texts lie in the arena or the
// session, and need not be UTF-8.
#ifndef PFT_ATTRIBUTES_H
#define PFT_ATTRIBUTES_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"

struct pft_relative;
struct pft_session;
struct pft_totals;

struct pft_attribute {
	const char *key;
	const char *text; // or NULL: the number counts
	uint64_t number;
};

#define PFT_ATTRIBUTES_MAX 26
#define PFT_LABELS_MAX 3

// Version, mode, selectors, command line and origin of the session, what recording a call costs where that is
// known, and unless `totals` is NULL these, for how long was recorded, what memory the process took, and how
// many stacks could not be kept if any were to be. Where the trace is written in segments, which one this is,
// and with the totals, which speak of all segments, how many events are in this one and how many went with
// those that were removed. How many there are; texts for which there is no memory are left out.
size_t pft_attributes_list(struct pft_attribute list[PFT_ATTRIBUTES_MAX], const struct pft_session *session,
	const struct pft_totals *totals, uint64_t duration_ns, struct pft_arena *arena);

// The last part of the session's process name; NULL when there is no memory.
const char *pft_attributes_process(const struct pft_session *session, struct pft_arena *arena);

const char *pft_attributes_relative(const struct pft_relative *relative, struct pft_arena *arena);

// What viewers show beside the process: where it comes from. How many there are.
size_t pft_attributes_labels(
	const char *labels[PFT_LABELS_MAX], const struct pft_session *session, struct pft_arena *arena);

// The command line as one text; NULL when there is no memory.
const char *pft_attributes_cmdline(const struct pft_session *session, struct pft_arena *arena);

// Bytes of the session's command line, which may say more than it holds.
size_t pft_attributes_cmdline_bytes(const struct pft_session *session);

#endif
