// SPDX-License-Identifier: MIT
// Reads a Perfetto trace, this project's or another's, and says what happened in it: one call of a function
// of the caller's for each process, track, event and attribute, with all names resolved. Used by the programs
// that stand on finished traces. The file is an input that nobody vouches for.
//
// Events come in the file's order, which is the order of time on each track of a trace that this project
// wrote. Memory follows what is known at one time: tracks, sequences, and the names that they have interned.
#ifndef PFT_READ_READER_H
#define PFT_READ_READER_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/arg.h"

enum pft_read_track_kind {
	PFT_TRACK_UNKNOWN,
	PFT_TRACK_PROCESS,
	PFT_TRACK_THREAD,
	PFT_TRACK_COUNTER,
	PFT_TRACK_OTHER
};

struct pft_read_track {
	uint64_t uuid;
	enum pft_read_track_kind kind; // UNKNOWN: no descriptor has come
	uint32_t pid; // of a process's or thread's track
	uint64_t tid;
	char *name; // or NULL
	struct pft_read_track *parent; // or NULL
	void *user; // the caller's
};

enum pft_read_kind {
	PFT_READ_TRACK, // a track was described, perhaps anew
	PFT_READ_BEGIN,
	PFT_READ_END,
	PFT_READ_INSTANT,
	PFT_READ_COUNTER,
	PFT_READ_LOST, // events before this one are not in the trace
	PFT_READ_ATTRIBUTE, // of the trace; what is said last counts
};

// Valid during the call. Texts are UTF-8 as far as the file's are.
struct pft_read_event {
	enum pft_read_kind kind;
	struct pft_read_track *track; // but for attributes
	uint64_t ns; // of CLOCK_BOOTTIME
	const char *name; // or NULL
	const char *category; // several are joined by commas; or NULL
	const struct pft_arg *args; // of begin, end, instant; the value of a counter or an attribute
	size_t arg_count;
	const uint64_t *flows, *ending_flows; // ids of arrows that leave or pass, and of those that end
	size_t flow_count, ending_flow_count;
	uint64_t lost; // how many, as far as that is known
};

// The thread's track that a track belongs to, itself included; else the process's; else NULL.
const struct pft_read_track *pft_read_owner(const struct pft_read_track *track);

typedef void pft_read_function(void *user, const struct pft_read_event *event);

struct pft_read_result {
	const char *wrong; // what is wrong with the file, as a phrase, or NULL: it was read to its end
	uint64_t packets;
	uint64_t events; // begins, ends, instants and counters
	uint64_t skipped; // events without a usable time, track or state
};

// Reads the file open at `fd` from its present offset.
struct pft_read_result pft_read(int fd, pft_read_function *function, void *user);

#endif
