// SPDX-License-Identifier: MIT
// Buffered writing of whole packets: see out.h. Flusher context, or the thread that exits.
#include "encoder/out.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/compress.h"

#define BUFFER PFT_OUT_WRITE_MAX // the largest packet and an ending

int pft_out_open(struct pft_out *out, int fd, struct pft_arena *arena)
{
	uint8_t *buffer = pft_arena_alloc(arena, BUFFER);

	if (!buffer)
		return -ENOMEM;
	*out = (struct pft_out){.start = buffer, .next = buffer, .limit = buffer + BUFFER, .fd = fd};
	return 0;
}

// A write that begins at RLIMIT_FSIZE raises SIGXFSZ, which ends the program unless it takes care of it; the
// program would not have met it without us. A write that reaches the limit is only cut short, so it is
// enough to ask before each. A trace is always the end of its file.
static bool at_size_limit(int fd)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	struct stat found = {0};

	pft_sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &limit);
	if (limit.rlim_cur == RLIM_INFINITY)
		return false;
	return pft_sys_fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
	       (rlim_t)found.st_size >= limit.rlim_cur;
}

static long write_some(int fd, const uint8_t *bytes, size_t size)
{
	long count;

	if (at_size_limit(fd))
		return -EFBIG;
	do
		count = pft_sys_write(fd, bytes, size);
	while (count == -EINTR);
	return count ? count : -EIO;
}

// Takes the last `size` bytes off the file. A trace is always the end of its file; the offset matters where
// the file was not opened for appending. A pipe has no end and keeps what it was given.
static void take_back(int fd, uint64_t size)
{
	long end = pft_sys3(SYS_lseek, fd, -(long)size, SEEK_END);

	if (size && end >= 0)
		pft_sys2(SYS_ftruncate, fd, end);
}

// All of it or nothing: 0 or -errno.
static int write_whole(int fd, const uint8_t *bytes, size_t size)
{
	size_t done = 0;

	while (done < size) {
		long count = write_some(fd, bytes + done, size - done);

		if (count < 0) {
			take_back(fd, done);
			return (int)count;
		}
		done += (size_t)count;
	}
	return 0;
}

static size_t ending_size(const struct pft_out *out)
{
	return out->ending ? strlen(out->ending) : 0;
}

// In one write with what is buffered, for which the limit leaves room, so that the file lacks its ending for
// as short as can be.
static int write_with_ending(struct pft_out *out, size_t size)
{
	size_t ending = ending_size(out);
	int error;

	if (ending)
		memcpy(out->next, out->ending, ending);
	if (out->ending_bytes)
		take_back(out->fd, out->ending_bytes);
	error = write_whole(out->fd, out->start, size + ending);
	if (error && ending)
		write_whole(out->fd, (const uint8_t *)out->ending, ending); // where it was, there may be room
	out->ending_bytes = ending;
	return error;
}

// `*size` becomes what is in the file.
static int write_buffered(struct pft_out *out, size_t *size)
{
	const uint8_t *packet;
	size_t packed =
		out->compressor ? pft_compressor_pack(out->compressor, out->start, *size, &packet) : 0;

	if (packed == 0)
		return write_with_ending(out, *size);
	*size = packed;
	return write_whole(out->fd, packet, packed);
}

void pft_out_drain(struct pft_out *out)
{
	size_t size = (size_t)(out->next - out->start);

	if (!out->error && size && out->fd != PFT_OUT_NOWHERE)
		out->error = write_buffered(out, &size);
	if (out->error)
		out->lost += out->waiting;
	else if (out->fd != PFT_OUT_NOWHERE)
		out->bytes += size;
	out->waiting = 0;
	out->next = out->start;
}

void pft_out_compress(struct pft_out *out, struct pft_compressor *compressor)
{
	out->compressor = compressor;
}

void pft_out_set_ending(struct pft_out *out, const char *text)
{
	out->ending = text;
	out->limit = out->start + BUFFER - ending_size(out);
}

void pft_out_end_from(struct pft_out *out, uint64_t bytes)
{
	pft_out_drain(out);
	out->ending_bytes += out->bytes - bytes;
	out->bytes = bytes;
}

void pft_out_turn(struct pft_out *out, int fd)
{
	out->fd = fd;
	out->bytes = out->ending_bytes = 0;
}

int pft_out_flush(struct pft_out *out)
{
	pft_out_drain(out);
	if (!out->error || out->told)
		return 0;
	out->told = true;
	return out->error;
}
