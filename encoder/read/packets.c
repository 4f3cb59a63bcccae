// SPDX-License-Identifier: MIT
// A file becomes packets, and so does what is compressed in one: see packets.h.
#include "encoder/read/packets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "encoder/read/inflate.h"
#include "encoder/read/split.h"
#include "encoder/read/unzstd.h"
#include "encoder/terminal/progress.h"

#define UNREADABLE (-1)

static int take(void *user, const uint8_t *bytes, size_t size)
{
	struct pft_packets_in *packets = user;
	enum pft_packet_answer answer = packets->function(packets->user, bytes, size);

	packets->count += answer == PFT_PACKET_TAKEN;
	return answer == PFT_PACKET_HOLDS_OTHERS ? 0 : (int)answer;
}

// ---- compressed packets -----------------------------------------------------------------------------

struct inner {
	struct pft_packets_in *packets;
	struct pft_split split;
};

static int take_inner(void *user, const uint8_t *bytes, size_t size)
{
	struct inner *inner = user;

	return pft_split_push(&inner->split, bytes, size, take, inner->packets);
}

enum pft_packet_answer pft_packets_unpack(
	struct pft_packets_in *packets, const struct pft_wire_field *compressed)
{
	struct inner inner = {.packets = packets};
	int error;

	if (!compressed->has_bytes)
		return PFT_PACKET_DAMAGED;
	if (packets->inside)
		return PFT_PACKET_NESTED_COMPRESSION;
	packets->inside = true;
	error = (compressed->number == PFT_PACKET_ZSTD ? pft_unpack_zstd : pft_inflate)(
		compressed->bytes, compressed->size, take_inner, &inner);
	if (error < 0 || (!error && pft_split_is_cut(&inner.split)))
		error = PFT_PACKET_BAD_COMPRESSION;
	pft_split_free(&inner.split);
	packets->inside = false;
	return error ? (enum pft_packet_answer)error : PFT_PACKET_HOLDS_OTHERS;
}

// ---- the file ---------------------------------------------------------------------------------------

static const char *phrase_of(const struct pft_packets_in *packets, int error)
{
	switch (error) {
	case PFT_PACKET_TAKEN:
	case PFT_PACKET_ENOUGH:
		return NULL;
	case PFT_PACKET_BAD_COMPRESSION:
		return "is damaged: what is compressed in it cannot be read";
	case PFT_PACKET_NESTED_COMPRESSION:
		return "is damaged: something in it is compressed twice";
	case UNREADABLE:
		return errno == EISDIR ? "is a directory" : strerrordesc_np(errno);
	default:
		return packets->count ? "is damaged: something in it is no packet of a trace"
				      : "is no Perfetto trace";
	}
}

static int read_all(struct pft_packets_in *packets, int fd, struct pft_split *split)
{
	static uint8_t room[256 << 10];
	uint64_t done = 0;
	ssize_t size;
	int error = 0;

	while (!error && (size = read(fd, room, sizeof room)) != 0) {
		if (size < 0 && errno == EINTR)
			continue;
		error = size < 0 ? UNREADABLE : pft_split_push(split, room, (size_t)size, take, packets);
		done += size < 0 ? 0 : (uint64_t)size;
		pft_progress_to(done);
	}
	return error;
}

const char *pft_packets_read(struct pft_packets_in *packets, int fd)
{
	struct pft_split split = {0};
	int error = read_all(packets, fd, &split);
	const char *wrong = phrase_of(packets, error);

	if (!error && !packets->count)
		wrong = pft_split_is_cut(&split) ? "is no Perfetto trace" : "is empty";
	packets->cut_bytes = error ? 0 : split.used;
	pft_split_free(&split);
	return wrong;
}
