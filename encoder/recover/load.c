// SPDX-License-Identifier: MIT
// Copies what a session file holds: see load.h. An ordinary program's context.
#include "encoder/recover/load.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/check.h"

static bool read_at(int fd, void *bytes, uint64_t size, uint64_t at)
{
	for (uint64_t done = 0; done < size;) {
		ssize_t count = pread(fd, (char *)bytes + done, size - done, (off_t)(at + done));

		if (count <= 0)
			return false;
		done += (uint64_t)count;
	}
	return true;
}

// From data to data: most of a session was never written to.
static bool copy(int fd, struct pft_session *to, uint64_t bytes)
{
	off_t at, end;

	for (at = lseek(fd, 0, SEEK_DATA); at >= 0 && (uint64_t)at < bytes; at = lseek(fd, end, SEEK_DATA)) {
		end = lseek(fd, at, SEEK_HOLE);
		if (end < 0)
			return false;
		if ((uint64_t)end > bytes)
			end = (off_t)bytes;
		if (!read_at(fd, (char *)to + at, (uint64_t)(end - at), (uint64_t)at))
			return false;
	}
	return at >= 0 || errno == ENXIO;
}

static struct pft_session *allocate(uint64_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct pft_session *pft_load(int fd, const char **flaw)
{
	static struct pft_session header;
	struct pft_session *session;
	struct stat found;

	*flaw = "is no session";
	if (fstat(fd, &found) != 0 || !read_at(fd, &header, sizeof header, 0))
		return NULL;
	*flaw = pft_check_header(&header, (uint64_t)found.st_size);
	if (*flaw)
		return NULL;
	*flaw = "does not fit into memory";
	session = allocate(header.bytes);
	if (!session)
		return NULL;
	*flaw = copy(fd, session, header.bytes) ? pft_check_header(session, (uint64_t)found.st_size)
						: "cannot be read";
	if (!*flaw && session->bytes != header.bytes)
		*flaw = "is being changed";
	if (!*flaw)
		*flaw = pft_check_tables(session);
	if (!*flaw)
		return session;
	munmap(session, header.bytes);
	return NULL;
}

void pft_unload(struct pft_session *session)
{
	munmap(session, session->bytes);
}
