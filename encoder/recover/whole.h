// SPDX-License-Identifier: MIT
// How much of a trace file is whole packets. Called by job.c. An ordinary program's context. Nothing is
// changed.
#ifndef PFT_RECOVER_WHOLE_H
#define PFT_RECOVER_WHOLE_H

#include <stdint.h>

enum pft_rest {
	PFT_REST_NONE, // the file ends where a packet does
	PFT_REST_CUT, // the last packet is not all there
	PFT_REST_OTHER, // what follows does not begin as a packet
	PFT_REST_UNREAD, // the file cannot be read on
};

struct pft_whole {
	uint64_t bytes; // from the start on, that are whole packets
	enum pft_rest rest; // what follows them
};

// Of the first `size` bytes of `fd`.
struct pft_whole pft_whole_find(int fd, uint64_t size);

#endif
