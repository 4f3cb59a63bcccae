// SPDX-License-Identifier: MIT
// Unit tests of encoder/recover/cut.c, and of how a replay goes on in a file of Chrome JSON, beside packets
// and alone: what a dead process left becomes whole JSON that holds everything once. Run by Criterion. A kill
// is a copy of the session.
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/complete.h"
#include "encoder/replay.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define STACK 0x700000

static struct pft_session *session, *dead;
static struct pft_replay *replay;
static struct pft_fake_ring ring;
static struct pft_completed completed;
static uint32_t outer, inner, leaf;
static int packets, json;

static void set_up(void)
{
	session = pft_fake_session(4096, 2);
	dead = pft_fake_session(4096, 2);
	outer = pft_fake_hook(session, NULL, "outer");
	inner = pft_fake_hook(session, NULL, "inner");
	leaf = pft_fake_hook(session, NULL, "leaf");
	ring = pft_fake_ring(session, 0, 100, "worker", 0);
	packets = pft_reader_file();
	json = pft_reader_file();
}

TestSuite(recover_json, .init = set_up);

static void commit(uint64_t ns)
{
	struct pft_clocks clocks = pft_fake_clocks(session, ns);

	pft_replay_clocks(replay, session->start_ticks + ns, clocks);
	pft_replay_drain(replay, 0, ring.head, false);
	pft_replay_pass(replay, true);
	cr_assert_eq(pft_replay_commit(replay), 0);
}

static void start(int packets_fd)
{
	replay = pft_replay_open(session, packets_fd, pft_fake_clocks(session, 0));
	cr_assert_not_null(replay);
	cr_assert_eq(pft_replay_json(replay, json), 0);
}

static void die(void)
{
	memcpy(dead, session, session->bytes);
}

static int count(const struct pft_reader_lines *lines, const char *text)
{
	int found = 0;

	for (size_t i = 0; i < lines->count; i++)
		found += strstr(lines->line[i], text) != NULL;
	return found;
}

static uint64_t size_of(int fd)
{
	struct stat found;

	cr_assert_eq(fstat(fd, &found), 0);
	return (uint64_t)found.st_size;
}

static void is_whole(void)
{
	const struct pft_reader_lines *lines = pft_reader_chrome(json);

	cr_assert_eq(count(lines, "\"ph\": \"X\", \"name\": \"leaf\""), 2);
	cr_assert_eq(count(lines, "\"ph\": \"X\", \"name\": \"inner\""), 1);
	cr_assert_eq(count(lines, "\"ph\": \"B\", \"name\": \"outer\""), 1);
	cr_assert_eq(count(lines, "\"name\": \"leaf\""), 2);
	cr_assert_eq(count(lines, "\"name\": \"inner\""), 1);
	cr_assert_eq(count(lines, "\"parent\": \"inner\""), 1);
	cr_assert_eq(count(lines, "thread begin"), 1);
}

// Two slices are open at the commit; one of them ends behind it, unseen by the flusher.
static void live_and_die(int packets_fd)
{
	start(packets_fd);
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 1100, leaf);
	pft_fake_end(&ring, 1200);
	pft_fake_begin(&ring, 1300, inner);
	commit(1400);
	pft_fake_begin(&ring, 1500, leaf);
	pft_fake_end(&ring, 1600);
	pft_fake_end(&ring, 1700);
	die();
}

Test(recover_json, goes_on_where_the_last_commit_ends)
{
	live_and_die(-1);
	cr_assert_eq(pft_complete(dead, -1, json, &completed), 0);
	cr_assert_eq(completed.totals.written, 7);
	is_whole();
}

Test(recover_json, goes_on_in_both_files)
{
	live_and_die(packets);
	cr_assert_eq(pft_complete(dead, packets, json, &completed), 0);
	is_whole();
	cr_assert_eq(count(pft_reader_slices(packets), "\"kind\": \"slice\""), 4);
}

Test(recover_json, takes_off_what_was_written_behind_the_last_commit)
{
	live_and_die(-1);
	commit(2000);
	cr_assert_eq(pft_complete(dead, -1, json, &completed), 0);
	is_whole();
}

Test(recover_json, begins_anew_where_nothing_was_committed)
{
	start(-1);
	pft_fake_begin(&ring, 1000, outer);
	die();
	commit(2000);
	cr_assert_eq(pft_complete(dead, -1, json, &completed), 0);
	cr_assert_eq(count(pft_reader_chrome(json), "\"ph\": \"B\", \"name\": \"outer\""), 1);
}

Test(recover_json, goes_on_on_the_track_of_another_stack)
{
	const struct pft_reader_lines *lines;

	start(-1);
	session->foreign_max = PFT_FOREIGN_MAX;
	pft_fake_foreign_begin(&ring, 1000, outer, STACK);
	pft_fake_foreign_begin(&ring, 1100, inner, STACK - 100);
	commit(1200);
	pft_fake_foreign_end(&ring, 1300, STACK - 100);
	die();
	cr_assert_eq(pft_complete(dead, -1, json, &completed), 0);
	lines = pft_reader_chrome(json);
	cr_assert_eq(count(lines, "\"ph\": \"B\", \"name\": \"outer\""), 1);
	cr_assert_eq(count(lines, "\"ph\": \"X\", \"name\": \"inner\""), 1);
	cr_assert_eq(count(lines, "\"tid\": 4194304"), 2);
}

Test(recover_json, holds_a_call_that_began_with_its_parent_and_ended_before_the_commit)
{
	start(-1);
	pft_fake_begin(&ring, 1000, outer);
	pft_fake_begin(&ring, 1000, leaf);
	pft_fake_end(&ring, 1200);
	commit(1300);
	die();
	cr_assert_eq(pft_complete(dead, -1, json, &completed), 0);
	cr_assert_eq(count(pft_reader_chrome(json), "\"name\": \"leaf\""), 1);
	cr_assert_eq(count(pft_reader_chrome(json), "\"parent\": \"outer\""), 1);
}

Test(recover_json, leaves_both_files_alone_when_one_is_too_short)
{
	uint64_t packets_bytes, json_bytes;

	live_and_die(packets);
	packets_bytes = size_of(packets);
	json_bytes = dead->generation ? pft_session_commit(dead, dead->generation)->json_bytes : 0;
	cr_assert_gt(json_bytes, 100);
	cr_assert_eq(ftruncate(json, (off_t)json_bytes - 1), 0);
	cr_assert_eq(pft_complete(dead, packets, json, &completed), -ENODATA);
	cr_assert_eq(size_of(packets), packets_bytes);
	cr_assert_eq(size_of(json), json_bytes - 1);
}

Test(recover_json, leaves_a_file_alone_in_which_no_line_ends_there)
{
	live_and_die(-1);
	pft_session_commit(dead, dead->generation)->json_bytes--;
	cr_assert_eq(pft_complete(dead, -1, json, &completed), -ENODATA);
}
