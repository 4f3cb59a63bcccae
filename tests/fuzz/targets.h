// SPDX-License-Identifier: MIT
// What is fuzzed: each target takes bytes that nobody vouches for to one of the readers, as its program
// would, and aborts when the answer breaks a promise. Called by entry.c, which libFuzzer starts, and by the
// unit tests, which replay the corpus. Single thread. Nothing is kept from one call to the next.
#ifndef PFT_FUZZ_TARGETS_H
#define PFT_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether the reader took the bytes for what it reads, to their end.
typedef bool pft_fuzz_target(const uint8_t *bytes, size_t size);

// A trace becomes Chrome JSON, as by pft convert, which must be JSON whatever the trace says.
pft_fuzz_target pft_fuzz_convert;

// A trace becomes a report in every format, as by pft report.
pft_fuzz_target pft_fuzz_report;

// A trace, twice, becomes one, as by pft merge; every event of the trace must be in it.
pft_fuzz_target pft_fuzz_merge;

// A session becomes the rest of its trace, as by pft recover, which must end where a packet does. Sessions
// are large and mostly empty, so the bytes are pieces: where (32 bits; the uppermost tells the trace's file
// from the session's), how many, and these bytes.
pft_fuzz_target pft_fuzz_recover;

// A file in memory with these bytes, at its beginning. To be closed.
int pft_fuzz_file(const void *bytes, size_t size);

// `condition` must hold; else ends the process with `promise`, which was broken.
void pft_fuzz_expect(bool condition, const char *promise);

#endif
