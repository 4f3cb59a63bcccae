// SPDX-License-Identifier: MIT
// Headers and padding of an archive: see tar.h. A header is a block of 512 bytes, numbers are octal digits,
// files are padded to whole blocks, and two blocks of zeros end it all.
#include "encoder/merge/tar.h"

#include <stdio.h>
#include <string.h>

#define BLOCK 512
#define FILE_MODE 0600

struct header {
	char name[PFT_TAR_NAME_MAX + 1], mode[8], owner[8], group[8], size[12], time[12], sum[8], type,
		link[100];
	char magic[6], version[2], rest[247];
};

_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static void put_octal(char *field, size_t size, uint64_t number)
{
	for (field[--size] = '\0'; size-- > 0; number >>= 3)
		field[size] = (char)('0' + (number & 7));
}

// Of all bytes, those of the sum itself taken as blanks.
static unsigned sum_of(struct header *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	unsigned sum = 0;

	memset(header->sum, ' ', sizeof header->sum);
	for (size_t i = 0; i < sizeof *header; i++)
		sum += bytes[i];
	return sum;
}

void pft_tar_begin(struct pft_sink *sink, const char *name, uint64_t size)
{
	struct header header = {.type = '0', .magic = "ustar", .version = {'0', '0'}};

	snprintf(header.name, sizeof header.name, "%s", name);
	put_octal(header.mode, sizeof header.mode, FILE_MODE);
	put_octal(header.owner, sizeof header.owner, 0);
	put_octal(header.group, sizeof header.group, 0);
	put_octal(header.size, sizeof header.size, size);
	put_octal(header.time, sizeof header.time, 0);
	put_octal(header.sum, sizeof header.sum - 1, sum_of(&header));
	pft_sink_put(sink, &header, sizeof header);
}

static void put_zeros(struct pft_sink *sink, size_t size)
{
	static const char zeros[2 * BLOCK];

	pft_sink_put(sink, zeros, size);
}

void pft_tar_end(struct pft_sink *sink, uint64_t size)
{
	put_zeros(sink, (size_t)(-size % BLOCK));
}

void pft_tar_close(struct pft_sink *sink)
{
	put_zeros(sink, 2 * BLOCK);
}
