// SPDX-License-Identifier: MIT
// What the reader says of a trace, told to the writer of Chrome JSON. Called by convert.c.
#ifndef PFT_READ_CHROME_H
#define PFT_READ_CHROME_H

#include <stdint.h>

struct pft_chrome_result {
	const char *wrong; // with the trace, as a phrase; NULL: it was read to its end
	int error; // -errno of writing, or 0
	uint64_t left_out; // events that could not be told
};

// Reads the trace at `from` and writes the empty file `to`.
struct pft_chrome_result pft_chrome_convert(int from, int to);

#endif
