// SPDX-License-Identifier: MIT
// Cuts a trace: see repair.h. An ordinary program's context. The rule: only the beginning of a packet at the
// very end of the file may go.
#include "encoder/recover/repair.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "encoder/recover/held.h"
#include "encoder/recover/paths.h"
#include "encoder/recover/whole.h"
#include "encoder/terminal/progress.h"

static bool cut(const char *path, const struct stat *as_read, uint64_t bytes)
{
	struct stat found;
	int fd = pft_path_open(path, O_WRONLY, &found);
	bool done = fd >= 0 && pft_path_is_same(&found, as_read) && ftruncate(fd, (off_t)bytes) == 0 &&
		    fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return done;
}

enum pft_answer pft_repair(const char *path, int fd, bool asked)
{
	struct stat found;
	struct pft_whole whole;
	char what[96];

	if (fstat(fd, &found) != 0)
		return pft_answer_say(PFT_ANSWER_FAILED, path, strerror(errno));
	pft_progress_start("checking", path, (uint64_t)found.st_size);
	whole = pft_whole_find(fd, (uint64_t)found.st_size);
	pft_progress_end();
	if (whole.rest == PFT_REST_NONE)
		return PFT_ANSWER_DONE;
	if (whole.rest == PFT_REST_UNREAD)
		return pft_answer_say(PFT_ANSWER_FAILED, path, "cannot be read");
	if (whole.rest == PFT_REST_OTHER)
		return pft_answer_say(PFT_ANSWER_INPUT, path,
			whole.bytes ? "holds something else behind its last packet" : "is no trace");
	if (pft_held(fd) == PFT_HELD_BY_WRITER)
		return asked ? pft_answer_say(PFT_ANSWER_FAILED, path, "is being written") : PFT_ANSWER_DONE;
	if (!cut(path, &found, whole.bytes))
		return pft_answer_say(PFT_ANSWER_FAILED, path, "cannot be cut");
	snprintf(what, sizeof what, "cut off the last %" PRIu64 " bytes: the beginning of a packet",
		(uint64_t)found.st_size - whole.bytes);
	return pft_answer_say(PFT_ANSWER_DONE, path, what);
}
