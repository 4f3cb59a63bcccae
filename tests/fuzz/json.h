// SPDX-License-Identifier: MIT
// Whether a text is JSON by the letter of RFC 8259. Called by the fuzz targets, so that what is written is
// not judged by who wrote it.
#ifndef PFT_FUZZ_JSON_H
#define PFT_FUZZ_JSON_H

#include <stdbool.h>
#include <stddef.h>

// Texts in it must be UTF-8.
bool pft_fuzz_is_json(const char *text, size_t size);

#endif
