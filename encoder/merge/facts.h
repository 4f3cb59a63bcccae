// SPDX-License-Identifier: MIT
// What this project's traces say of themselves as attributes, made into what a merged trace says of itself.
// Called by join.c. The rule: a merged trace says only what all of its members have said. Counts of events
// are added up, the cost of recording is the mean of theirs, and of the rest there is what they agree on.
#ifndef PFT_MERGE_FACTS_H
#define PFT_MERGE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/arg.h"
#include "encoder/read/table.h"

// Attributes with other names are none of ours.
#define PFT_FACTS_PREFIX "pftshim."

// A member says no more than this many different things.
#define PFT_FACTS_MAX 256

struct pft_fact;

// A zeroed one holds nothing.
struct pft_facts {
	struct pft_fact *list;
	size_t count;
	struct pft_read_table processes; // what is counted of those that write segments
	uint32_t members; // that have said anything, without the present one
	bool begun; // the present one has
};

bool pft_facts_are_ours(const struct pft_arg *attribute);

// The present member says something; of what it says twice the last counts.
void pft_facts_hear(struct pft_facts *facts, const struct pft_arg *attribute);

// The present member has said everything; the next one begins. `process`: the present one is a segment of
// that process, and comes behind those before it; 0: it is not in segments.
void pft_facts_next(struct pft_facts *facts, uint64_t process);

// Calls `function` for each attribute of the merged trace.
void pft_facts_tell(const struct pft_facts *facts,
	void (*function)(void *user, const struct pft_arg *attribute), void *user);

void pft_facts_free(struct pft_facts *facts);

#endif
