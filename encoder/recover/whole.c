// SPDX-License-Identifier: MIT
// Walks from packet to packet: see whole.h. A packet is field 1 of the message Trace: a tag, a length, and so
// many bytes. The rule: only tags and lengths are looked at, so that the walk is as long as the file,
// whatever stands in it.
#include "encoder/recover/whole.h"

#include <stdbool.h>
#include <unistd.h>

#include "encoder/terminal/progress.h"

#define TAG 0x0a
#define HEAD_BYTES_MAX 11 // the tag and a varint

// A piece of the file, read ahead.
struct window {
	int fd;
	uint64_t size; // of the file
	uint64_t at; // of the piece
	uint64_t used;
	uint8_t bytes[256 << 10];
};

// False when the file cannot be read there.
static bool move(struct window *window, uint64_t at)
{
	ssize_t count = pread(window->fd, window->bytes, sizeof window->bytes, (off_t)at);

	pft_progress_to(at);
	window->at = at;
	window->used = count > 0 ? (uint64_t)count : 0;
	if (window->used > window->size - at)
		window->used = window->size - at;
	return window->used != 0;
}

static bool reach(struct window *window, uint64_t at)
{
	uint64_t end = at + HEAD_BYTES_MAX < window->size ? at + HEAD_BYTES_MAX : window->size;

	return (at >= window->at && end <= window->at + window->used) || move(window, at);
}

// Where the packet at `at` ends; 0 when it does not within the file.
static uint64_t end_of(const struct window *window, uint64_t at)
{
	const uint8_t *head = window->bytes + (at - window->at);
	uint64_t there = window->at + window->used - at;
	uint64_t length = 0;
	unsigned i = 1;

	for (; i < there && i < HEAD_BYTES_MAX; i++) {
		length |= (uint64_t)(head[i] & 127) << (7 * (i - 1));
		if (head[i] < 128)
			return length <= window->size - at - i - 1 ? at + i + 1 + length : 0;
	}
	return 0;
}

struct pft_whole pft_whole_find(int fd, uint64_t size)
{
	static struct window window;
	struct pft_whole whole = {.rest = PFT_REST_NONE};

	window = (struct window){.fd = fd, .size = size};
	while (whole.bytes < size && whole.rest == PFT_REST_NONE) {
		uint64_t end;

		if (!reach(&window, whole.bytes)) {
			whole.rest = PFT_REST_UNREAD;
			break;
		}
		end = end_of(&window, whole.bytes);
		if (window.bytes[whole.bytes - window.at] != TAG)
			whole.rest = PFT_REST_OTHER;
		else if (end == 0)
			whole.rest = PFT_REST_CUT;
		else
			whole.bytes = end;
	}
	return whole;
}
