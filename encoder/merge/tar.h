// SPDX-License-Identifier: MIT
// A tar archive (POSIX ustar), written front to back. Called by hosts.c. The rule: the same contents make the
// same bytes: no times, no owners.
#ifndef PFT_MERGE_TAR_H
#define PFT_MERGE_TAR_H

#include <stdint.h>

#include "encoder/merge/sink.h"

// The longest name that every reader takes, without the final NUL.
#define PFT_TAR_NAME_MAX 99

// Eight gigabytes, less one byte.
#define PFT_TAR_SIZE_MAX ((UINT64_C(1) << 33) - 1)

// A file begins, of `size` bytes, which follow through pft_sink_put.
void pft_tar_begin(struct pft_sink *sink, const char *name, uint64_t size);
void pft_tar_end(struct pft_sink *sink, uint64_t size);

// Nothing follows.
void pft_tar_close(struct pft_sink *sink);

#endif
