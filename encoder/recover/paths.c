// SPDX-License-Identifier: MIT
// Paths and files of a recovery: see paths.h. An ordinary program's context.
#include "encoder/recover/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "encoder/base/segment.h"

bool pft_path_ends(const char *path, const char *ending)
{
	size_t length = strlen(path), tail = strlen(ending);

	return length > tail && strcmp(path + length - tail, ending) == 0;
}

const char *pft_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool pft_path_swap(char *swapped, size_t size, const char *path, const char *ending, const char *other)
{
	int kept = (int)strlen(path) - (int)strlen(ending);

	return pft_path_ends(path, ending) &&
	       (size_t)snprintf(swapped, size, "%.*s%s", kept, path, other) < size;
}

bool pft_path_segment(
	char *swapped, size_t size, const char *path, const char *ending, uint32_t number, const char *other)
{
	char numbered[64];
	struct pft_text text = pft_text_in(numbered, sizeof numbered);

	pft_segment_add(&text, number);
	pft_text_add(&text, other);
	return pft_path_swap(swapped, size, path, ending, numbered);
}

bool pft_path_link(char *link, size_t size, const char *trace)
{
	struct stat found;
	size_t name, stem;

	if (!pft_path_swap(link, size, trace, PFT_TRACE_ENDING, PFT_LINK_ENDING) &&
		!pft_path_swap(link, size, trace, PFT_JSON_ENDING, PFT_LINK_ENDING))
		return false;
	name = strlen(link) - strlen(PFT_LINK_ENDING);
	stem = pft_segment_stem(link, name);
	// A process may be called as a segment is.
	if (stem != name && lstat(link, &found) != 0)
		memmove(link + stem, PFT_LINK_ENDING, sizeof PFT_LINK_ENDING);
	return true;
}

const char *pft_path_session(char *buffer, size_t size, const char *link)
{
	struct stat found;
	ssize_t length = readlink(link, buffer, size);

	if (length < 0)
		return lstat(link, &found) == 0 && S_ISREG(found.st_mode) ? link : NULL;
	if ((size_t)length == size || buffer[0] != '/')
		return NULL;
	buffer[length] = '\0';
	return buffer;
}

int pft_path_open(const char *path, int flags, struct stat *found)
{
	int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && (fstat(fd, found) != 0 || !S_ISREG(found->st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

bool pft_path_is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}
