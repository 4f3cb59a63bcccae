// SPDX-License-Identifier: MIT
// Names of segments: see segment.h. Any context.
#include "encoder/base/segment.h"

#include <string.h>

#define PART_SIZE (sizeof PFT_SEGMENT_NAME - 1)

void pft_segment_add(struct pft_text *path, uint32_t number)
{
	if (number <= 1)
		return;
	pft_text_add(path, PFT_SEGMENT_NAME);
	pft_text_add_number(path, number);
}

size_t pft_segment_stem(const char *path, size_t size)
{
	size_t stem = size;

	while (stem && path[stem - 1] >= '0' && path[stem - 1] <= '9')
		stem--;
	if (stem == size || stem <= PART_SIZE ||
		memcmp(path + stem - PART_SIZE, PFT_SEGMENT_NAME, PART_SIZE) != 0)
		return size;
	return stem - PART_SIZE;
}
