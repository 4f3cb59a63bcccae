// SPDX-License-Identifier: MIT
// Buffered writing of whole packets: see out.h. Flusher context, or the thread that exits.
#include "encoder/out.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"

int pft_out_open(struct pft_out *out, int fd, struct pft_arena *arena)
{
	uint8_t *buffer = pft_arena_alloc(arena, PFT_OUT_PACKET_MAX);

	if (!buffer)
		return -ENOMEM;
	*out = (struct pft_out){
		.start = buffer, .next = buffer, .limit = buffer + PFT_OUT_PACKET_MAX, .fd = fd};
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

// Takes the last `size` bytes off the file. The offset follows every write, in append mode too. A pipe has
// no offset and keeps what it was given.
static void take_back(int fd, size_t size)
{
	long end = pft_sys3(SYS_lseek, fd, 0, SEEK_CUR);

	if (size && end >= (long)size)
		pft_sys2(SYS_ftruncate, fd, end - (long)size);
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

void pft_out_drain(struct pft_out *out)
{
	size_t size = (size_t)(out->next - out->start);

	if (!out->error)
		out->error = write_whole(out->fd, out->start, size);
	if (out->error)
		out->lost += out->waiting;
	else
		out->bytes += size;
	out->waiting = 0;
	out->next = out->start;
}

int pft_out_flush(struct pft_out *out)
{
	pft_out_drain(out);
	if (!out->error || out->told)
		return 0;
	out->told = true;
	return out->error;
}
