// SPDX-License-Identifier: MIT
// Unit tests of shim/segments.c and encoder/base/segment.c: which files a recording makes and removes when it
// is written in segments, with a real session, flusher and directory. Run by Criterion.
#include "shim/segments.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "encoder/base/segment.h"
#include "encoder/recover/job.h"
#include "shim/flusher.h"
#include "shim/hot/self.h"
#include "tests/unit/recording.h"

#define CALLS 20000 // take some 500 KB

#define SEGMENTS_TEST(name) Test(segment_files, name, .fini = recording_clean, .timeout = 120)

static uint32_t work;
static struct pft_totals totals;

static void start(uint64_t bytes, uint32_t kept)
{
	recording_settings.segment_bytes = bytes;
	recording_settings.segments_kept = kept;
	recording_make();
	work = recording_hook("work");
	recording_start();
}

static void finish(void)
{
	cr_assert_eq(recording_finish(&totals), 0);
	cr_assert_eq(totals.produced, totals.written + totals.filtered + totals.dropped);
}

static const char *path_of(uint32_t segment)
{
	static char path[PFT_PATH_MAX];

	cr_assert_eq(pft_place_path(&recording_place, PFT_FILE_TRACE, segment, path), 0);
	return path;
}

static int exists(uint32_t segment)
{
	return access(path_of(segment), F_OK) == 0;
}

static uint64_t size_of(uint32_t segment)
{
	struct stat found;

	cr_assert_eq(stat(path_of(segment), &found), 0, "there is no segment %u", segment);
	return (uint64_t)found.st_size;
}

static unsigned slices_in(uint32_t segment)
{
	recording_segment = segment;
	return recording_slices("work");
}

static void plant(uint32_t segment)
{
	int fd = open(path_of(segment), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "mine", 4), 4);
	close(fd);
}

// A slice that spans two segments begins in both.
static uint64_t ends_from(uint32_t segment)
{
	uint64_t ends = 0;

	for (; segment <= pft_session->segments.number; segment++) {
		recording_segment = segment;
		ends += recording_ends();
	}
	return ends;
}

SEGMENTS_TEST(hold_every_call_once)
{
	uint32_t last;

	start(64 << 10, 0);
	recording_calls(work, CALLS);
	finish();
	last = pft_session->segments.number;
	cr_assert_geq(last, 4);
	cr_assert_geq(totals.written, 2 * CALLS); // and waits for the flusher
	cr_assert_eq(ends_from(1), totals.written / 2);
	cr_assert_not(exists(last + 1));
}

SEGMENTS_TEST(end_when_they_have_reached_the_size)
{
	start(64 << 10, 0);
	recording_calls(work, CALLS);
	finish();
	for (uint32_t segment = 1; segment < pft_session->segments.number; segment++) {
		cr_assert_geq(size_of(segment), 64 << 10);
		// What one ring holds, and names and totals.
		cr_assert_leq(size_of(segment), (64 << 10) + recording_settings.buffer_bytes + 4096);
	}
}

SEGMENTS_TEST(are_one_when_nothing_is_said)
{
	start(0, 0);
	recording_calls(work, CALLS);
	finish();
	cr_assert_eq(slices_in(1), CALLS);
	cr_assert_not(exists(2));
}

SEGMENTS_TEST(go_when_there_are_more_than_are_kept)
{
	uint64_t left;
	uint32_t last;

	start(64 << 10, 3);
	recording_calls(work, CALLS);
	finish();
	last = pft_session->segments.number;
	cr_assert_geq(last, 5);
	cr_assert_eq(pft_session->segments.removed, last - 3);
	for (uint32_t segment = 1; segment <= last - 3; segment++)
		cr_assert_not(exists(segment), "segment %u of %u is there", segment, last);
	left = totals.written - pft_session->segments.events_removed;
	cr_assert_gt(left, 0);
	// A call may have begun in a segment that was removed.
	cr_assert_eq(ends_from(last - 2), (left + 1) / 2);
}

SEGMENTS_TEST(stay_when_another_file_has_taken_their_place)
{
	start(64 << 10, 2);
	cr_assert_eq(recording_await("work", 0), 1);
	recording_calls(work, 1);
	cr_assert(recording_await("work", 1));
	cr_assert_eq(unlink(path_of(1)), 0);
	plant(1);
	recording_calls(work, CALLS);
	finish();
	cr_assert_geq(pft_session->segments.removed, 1);
	cr_assert_eq(size_of(1), 4);
	cr_assert_not(exists(2));
}

SEGMENTS_TEST(pass_over_names_that_are_taken)
{
	start(64 << 10, 0);
	plant(2);
	recording_calls(work, CALLS);
	finish();
	cr_assert_eq(size_of(2), 4);
	cr_assert_gt(slices_in(3), 0);
}

SEGMENTS_TEST(grow_when_no_other_can_be_made)
{
	char away[PFT_PATH_MAX + 8];

	start(64 << 10, 2);
	recording_calls(work, 1);
	cr_assert(recording_await("work", 1));
	snprintf(away, sizeof away, "%s.away", recording_place.directory);
	cr_assert_eq(rename(recording_place.directory, away), 0);
	recording_calls(work, CALLS);
	finish();
	cr_assert_eq(pft_segments_trouble(), -ENOENT);
	cr_assert_eq(rename(away, recording_place.directory), 0);
	cr_assert_eq(slices_in(1), CALLS + 1);
	cr_assert_eq(pft_session->segments.number, 1);
}

// ---- a kill between two -----------------------------------------------------------------------------

static pid_t dead;

// Where the second segment of the dead process is, or would be.
static const char *second_path(void)
{
	static char path[PFT_PATH_MAX];

	snprintf(path, sizeof path, "%s/executions/night/program.%d.part2.pftrace",
		recording_settings.directory, (int)dead);
	return path;
}

// A process that dies when its second segment is there and no commit speaks of it.
static void die_between(const char *content, bool known)
{
	struct pft_files files;
	struct stat found;

	recording_directory();
	recording_settings.execution = "night";
	dead = fork();
	if (dead == 0) {
		start(64 << 10, 2);
		recording_calls(work, 100);
		cr_assert(pft_flusher_stop(false));
		pft_session->made.segment = 2;
		cr_assert_eq(pft_place_create(&recording_place, 2, &files), 0);
		cr_assert_eq(write(files.fds[PFT_FILE_TRACE], content, strlen(content)), strlen(content));
		cr_assert_eq(fstat(files.fds[PFT_FILE_TRACE], &found), 0);
		if (known) {
			pft_session->made.files[PFT_FILE_TRACE].device = found.st_dev;
			pft_session->made.files[PFT_FILE_TRACE].inode = found.st_ino;
		}
		raise(SIGKILL);
	}
	cr_assert_eq(waitpid(dead, NULL, 0), dead);
}

static void recover_first(void)
{
	char first[PFT_PATH_MAX];

	snprintf(first, sizeof first, "%s/executions/night/program.%d.pftrace", recording_settings.directory,
		(int)dead);
	cr_assert_eq(pft_job_trace(first, true), PFT_ANSWER_DONE);
	cr_assert_eq(access(first, F_OK), 0);
}

SEGMENTS_TEST(go_when_no_commit_speaks_of_them)
{
	die_between("what is in the first one as well", true);
	recover_first();
	cr_assert_neq(access(second_path(), F_OK), 0);
}

SEGMENTS_TEST(go_when_they_had_just_been_made)
{
	die_between("", false);
	recover_first();
	cr_assert_neq(access(second_path(), F_OK), 0);
}

SEGMENTS_TEST(stay_when_they_are_not_what_the_dead_process_made)
{
	die_between("not yet known, and yet written to", false);
	recover_first();
	cr_assert_eq(access(second_path(), F_OK), 0);
}

// ---- names ------------------------------------------------------------------------------------------

static const char *named(uint32_t number)
{
	static char path[64];
	struct pft_text text = pft_text_in(path, sizeof path);

	pft_text_add(&text, "make.7");
	pft_segment_add(&text, number);
	return path;
}

Test(segment_names, number_all_but_the_first)
{
	cr_assert_str_eq(named(0), "make.7");
	cr_assert_str_eq(named(1), "make.7");
	cr_assert_str_eq(named(2), "make.7.part2");
	cr_assert_str_eq(named(4294967295), "make.7.part4294967295");
}

static size_t stem(const char *path)
{
	return pft_segment_stem(path, strlen(path));
}

Test(segment_names, begin_with_the_name_of_the_process)
{
	cr_assert_eq(stem("make.7"), 6);
	cr_assert_eq(stem("make.7.part2"), 6);
	cr_assert_eq(stem("make.7.part123"), 6);
	cr_assert_eq(stem("make.7.part"), 11);
	cr_assert_eq(stem("make.7.party2"), 13);
	cr_assert_eq(stem(".part2"), 6);
	cr_assert_eq(stem("2"), 1);
	cr_assert_eq(stem(""), 0);
}
