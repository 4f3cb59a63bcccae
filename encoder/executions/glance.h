// SPDX-License-Identifier: MIT
// What a trace says at a glance: its beginning and its end are read, whatever its size. Called for lists of
// traces. An ordinary program's context. The file is an input that nobody vouches for; what it does not say
// stays zero.
#ifndef PFT_EXECUTIONS_GLANCE_H
#define PFT_EXECUTIONS_GLANCE_H

#include <stdbool.h>
#include <stdint.h>

struct pft_glance {
	char process[64]; // its name, cut to fit
	uint32_t pid;
	uint64_t start_ns; // CLOCK_REALTIME when recording began
	bool ended; // the totals are there, and with them:
	uint64_t duration_ns; // for how long was recorded
	uint64_t events, dropped; // all that happened, and those of them that are not in the trace
};

enum pft_glance_at { PFT_GLANCE_BEGINNING, PFT_GLANCE_END };

// Adds what that end of a file of packets says.
void pft_glance_trace(struct pft_glance *glance, int fd, enum pft_glance_at at);

// Likewise of Chrome JSON, which does not say what the process is called, nor when it began.
void pft_glance_json(struct pft_glance *glance, int fd, enum pft_glance_at at);

#endif
