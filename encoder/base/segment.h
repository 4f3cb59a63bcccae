// SPDX-License-Identifier: MIT
// What the files of a trace that is written in segments are called: {process}{ending},
// {process}.part2{ending}, and so on. Called by place.c, which makes them, and by the programs that find them
// again. Any context; pure.
#ifndef PFT_BASE_SEGMENT_H
#define PFT_BASE_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/base/text.h"

#define PFT_SEGMENT_NAME ".part"

// Adds what stands between name and ending: nothing for the first one. `number`: from 1; 0 is the first as
// well.
void pft_segment_add(struct pft_text *path, uint32_t number);

// How many of the first `size` bytes of `path`, which stand in front of the ending, are the process's name;
// all of them unless it is named as a later segment.
size_t pft_segment_stem(const char *path, size_t size);

#endif
