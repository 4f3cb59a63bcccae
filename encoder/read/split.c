// SPDX-License-Identifier: MIT
// Packets out of a stream: see split.h.
#include "encoder/read/split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/read/memory.h"
#include "encoder/read/wire.h"

#define PACKET_TAG 0x0a

// Tag and length: a byte, and a varint.
#define HEAD_MAX 11

static void keep(struct pft_split *split, const uint8_t *bytes, size_t size)
{
	if (size == 0)
		return;
	if (split->used + size > split->room) {
		split->room = 2 * (split->used + size);
		split->buffer = pft_read_resize(split->buffer, split->room);
	}
	memcpy(split->buffer + split->used, bytes, size);
	split->used += size;
}

// Size of the packet at `bytes`, its head included; 0 when that is not known yet, SIZE_MAX when none begins
// there.
static size_t packet_size(const uint8_t *bytes, size_t size, size_t *head)
{
	const uint8_t *at;
	uint64_t length;

	if (bytes[0] != PACKET_TAG)
		return SIZE_MAX;
	at = pft_wire_varint(bytes + 1, bytes + size, &length);
	if (!at)
		return size < HEAD_MAX ? 0 : SIZE_MAX;
	if (length > PFT_SPLIT_PACKET_MAX)
		return SIZE_MAX;
	*head = (size_t)(at - bytes);
	return *head + (size_t)length;
}

int pft_split_push(struct pft_split *split, const uint8_t *bytes, size_t size,
	int (*packet)(void *user, const uint8_t *bytes, size_t size), void *user)
{
	size_t head = 0, whole, at = 0;
	int error = 0;

	if (split->used) {
		keep(split, bytes, size);
		bytes = split->buffer;
		size = split->used;
	}
	while (!error && at < size) {
		whole = packet_size(bytes + at, size - at, &head);
		if (whole == SIZE_MAX)
			return -EINVAL;
		if (whole == 0 || whole > size - at)
			break;
		error = packet(user, bytes + at + head, whole - head);
		at += whole;
	}
	if (split->used) {
		memmove(split->buffer, split->buffer + at, size - at);
		split->used = size - at;
	} else {
		keep(split, bytes + at, size - at);
	}
	return error;
}

void pft_split_free(struct pft_split *split)
{
	free(split->buffer);
	*split = (struct pft_split){0};
}
