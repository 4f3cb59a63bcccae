// SPDX-License-Identifier: MIT
// Cuts the files of a trace: see cut.h. An ordinary program's context. The rule: both are looked at before
// one is changed.
#include "encoder/recover/cut.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/whole.h"

static bool packet_ends(int fd, uint64_t bytes)
{
	return pft_whole_find(fd, bytes).rest == PFT_REST_NONE;
}

// What ends there is an event or the head of the file (json_file.h).
static bool line_ends(int fd, uint64_t bytes)
{
	char last;

	return bytes == 0 || (pread(fd, &last, 1, (off_t)bytes - 1) == 1 && (last == '}' || last == '['));
}

static int check(int fd, uint64_t bytes, bool (*ends)(int fd, uint64_t bytes))
{
	struct stat found;

	if (fd < 0)
		return 0;
	if (fstat(fd, &found) != 0)
		return -errno;
	return (uint64_t)found.st_size >= bytes && ends(fd, bytes) ? 0 : -ENODATA;
}

static int cut(int fd, uint64_t bytes)
{
	return fd < 0 || (ftruncate(fd, (off_t)bytes) == 0 && lseek(fd, 0, SEEK_END) >= 0) ? 0 : -errno;
}

int pft_cut(const struct pft_commit *commit, int fd, int json_fd)
{
	int result = check(fd, commit->trace_bytes, packet_ends);

	if (result == 0)
		result = check(json_fd, commit->json_bytes, line_ends);
	if (result == 0)
		result = cut(fd, commit->trace_bytes);
	return result != 0 ? result : cut(json_fd, commit->json_bytes);
}
