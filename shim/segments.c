// SPDX-License-Identifier: MIT
// Beginning segments and removing the oldest: see segments.h. Flusher context. The order, so that after a
// kill every event is in one file and what has gone is counted: the session names the next file, it is made,
// the replay turns and commits; then the oldest is counted as removed, that is committed, and it goes.
#include "shim/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/replay.h"
#include "shim/hot/self.h"

#define TRIES 1000 // at names that are taken

// A segment that is complete.
struct segment {
	struct pft_made made;
	uint64_t events; // written in it
};

static struct {
	const struct pft_place *place;
	uint64_t due_bytes; // the next one begins when the present one has as many
	struct segment kept[PFT_SEGMENTS_KEPT_MAX]; // a ring, the oldest at `first`
	uint32_t first, count;
	int trouble;
} segments;

void pft_segments_start(const struct pft_place *place)
{
	segments.place = place;
	segments.due_bytes = pft_session->segment_bytes;
	segments.first = segments.count = 0;
	segments.trouble = 0;
}

int pft_segments_open(struct pft_files *files)
{
	return pft_place_open(segments.place, pft_session->segments.number, files);
}

int pft_segments_trouble(void)
{
	return segments.trouble;
}

// ---- files ------------------------------------------------------------------------------------------

static void describe(struct pft_made *made, const struct pft_files *files)
{
	for (int file = 0; file < PFT_FILES_SEGMENTED; file++) {
		struct stat found = {0};

		if (files->fds[file] >= 0)
			pft_sys_fstat(files->fds[file], &found);
		made->files[file].device = found.st_dev;
		made->files[file].inode = found.st_ino;
	}
}

static void remove_file(const struct pft_made *made, int file)
{
	char path[PFT_PATH_MAX];
	struct stat found = {0};

	if (made->files[file].inode == 0 || pft_place_path(segments.place, file, made->segment, path) != 0 ||
		pft_sys_fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (found.st_dev == made->files[file].device && found.st_ino == made->files[file].inode)
		pft_sys1(SYS_unlink, path);
}

static void remove_files(const struct pft_made *made)
{
	for (int file = 0; file < PFT_FILES_SEGMENTED; file++)
		remove_file(made, file);
}

// The files of the next segment whose name is not taken.
static int create(struct pft_files *files)
{
	struct pft_made *made = &pft_session->made;
	uint32_t number = pft_session->segments.number;
	int error = -EEXIST;

	for (unsigned tries = 0; error == -EEXIST && tries < TRIES; tries++) {
		*made = (struct pft_made){.segment = ++number};
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		error = pft_place_create(segments.place, number, files);
	}
	if (error)
		*made = (struct pft_made){0};
	else
		describe(made, files);
	return error;
}

// ---- the next one -----------------------------------------------------------------------------------

static int remove_oldest(struct pft_replay *replay)
{
	const struct segment *oldest = &segments.kept[segments.first];
	int error;

	pft_session->segments.removed++;
	pft_session->segments.events_removed += oldest->events;
	pft_session->removing = oldest->made;
	error = pft_replay_commit(replay);
	remove_files(&oldest->made);
	segments.first = (segments.first + 1) % PFT_SEGMENTS_KEPT_MAX;
	segments.count--;
	return error;
}

// The present one counts among those that are kept.
static int keep(struct pft_replay *replay, const struct segment *complete)
{
	uint32_t most = pft_session->segments_kept;
	int error = 0;

	if (most == 0)
		return 0;
	segments.kept[(segments.first + segments.count++) % PFT_SEGMENTS_KEPT_MAX] = *complete;
	while (segments.count >= most && error == 0)
		error = remove_oldest(replay);
	return error;
}

static void close_segment(struct pft_files *files)
{
	for (int file = 0; file < PFT_FILES_SEGMENTED; file++)
		if (files->fds[file] >= 0)
			pft_sys_close(files->fds[file]);
}

static int turn(struct pft_replay *replay, struct pft_files *files)
{
	const struct pft_segments *present = &pft_session->segments;
	struct segment complete = {.made.segment = present->number};
	uint64_t before = present->written_before;
	struct pft_files next;
	int error = create(&next);

	if (error) {
		segments.trouble = error;
		return 0;
	}
	describe(&complete.made, files);
	error = pft_replay_turn(
		replay, pft_session->made.segment, next.fds[PFT_FILE_TRACE], next.fds[PFT_FILE_JSON]);
	if (present->number == complete.made.segment) { // it could not be completed
		close_segment(&next);
		remove_files(&pft_session->made);
		pft_session->made = (struct pft_made){0};
		return error;
	}
	close_segment(files);
	for (int file = 0; file < PFT_FILES_SEGMENTED; file++)
		files->fds[file] = next.fds[file];
	complete.events = present->written_before - before;
	return error ? error : keep(replay, &complete);
}

int pft_segments_follow(struct pft_replay *replay, struct pft_files *files)
{
	uint64_t bytes = pft_replay_file_bytes(replay);
	int error;

	if (segments.due_bytes == 0 || bytes < segments.due_bytes)
		return 0;
	segments.due_bytes = pft_session->segment_bytes;
	error = turn(replay, files);
	if (segments.trouble) // not at every commit
		segments.due_bytes += bytes;
	return error;
}
