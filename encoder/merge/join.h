// SPDX-License-Identifier: MIT
// Several traces become one. Called by merge.c. Packets are copied as they are but for the ids of their
// sequences, which repeat in other traces and are given out anew; what was compressed is written as it was
// before. Tracks and flows are told by ids that are unique already; times are those of one machine's
// CLOCK_BOOTTIME. The rule: the same traces in the same order make the same bytes.
#ifndef PFT_MERGE_JOIN_H
#define PFT_MERGE_JOIN_H

#include <stdint.h>

#include "encoder/merge/facts.h"
#include "encoder/merge/sink.h"
#include "encoder/read/table.h"

struct pft_join {
	struct pft_sink *sink; // the caller's
	uint32_t members; // that were begun
	uint32_t last_sequence; // of the ids that were given out
	struct pft_read_table tracks; // of all members
	struct pft_read_table segments; // the last whole one of each process that writes segments
	struct pft_facts facts;
};

struct pft_joined {
	const char *wrong; // with the member, as a phrase; NULL: all of it is in the trace
	uint32_t other; // the number of the member that has another track by the same id; 0: none
	uint64_t cut_bytes; // of a last packet that was not whole and is left out
};

// A joint that writes to `sink`, still empty.
struct pft_join pft_join_open(struct pft_sink *sink);

// Adds the trace open at `fd`. Members are numbered from 1, as they come: of one process, in order of time. A
// segment begins with the calls that the one before it has left open; where that one is in the trace, each of
// these is shown as an instant, for the call is open already.
struct pft_joined pft_join_member(struct pft_join *join, int fd, uint64_t process, uint32_t segment);

// Writes what all of them say of themselves, and frees everything but the sink.
void pft_join_close(struct pft_join *join);

#endif
