// SPDX-License-Identifier: MIT
// What somebody else reads in a trace that a test has written: the packets by protobuf-c, and the slices by
// check_trace.py, which shares no code with the encoder. Called by unit tests. What is handed out is valid
// until the next call of the same function.
#ifndef PFT_TEST_READER_H
#define PFT_TEST_READER_H

#include <stddef.h>

#include "proto/pftrace.pb-c.h"

// An empty file without a name, open for reading and writing.
int pft_reader_file(void);

// All of the file's packets. Ends the test when they cannot be decoded.
const Pft__Proto__Trace *pft_reader_packets(int fd);

struct pft_reader_lines {
	char *line[4096]; // as JSON, without the newline
	size_t count;
};

// Runs `check_trace.py --slices` on the file; the test fails when it finds an error. The path of the program
// is taken from PFT_CHECK_TRACE; without it the test is skipped when there is none beside the repository.
const struct pft_reader_lines *pft_reader_slices(int fd);

// What tests/run/chrome.py reads in a file of Chrome JSON; the test fails when that finds an error.
const struct pft_reader_lines *pft_reader_chrome(int fd);

// Whether line `index` holds `text`.
int pft_reader_says(const struct pft_reader_lines *lines, size_t index, const char *text);

#endif
