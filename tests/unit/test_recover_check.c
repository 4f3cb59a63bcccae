// SPDX-License-Identifier: MIT
// Unit tests of encoder/recover/check.c and load.c: what is taken for a session. Run by Criterion.
#include "encoder/recover/check.h"

#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "encoder/commit.h"
#include "encoder/recover/load.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/reader.h"

static struct pft_session *session;

static void set_up(void)
{
	session = pft_fake_session(4096, 4);
	pft_fake_hook(session, "object", "f");
	pft_fake_ring(session, 1, 100, "thread", 64);
	strcpy(session->trace_path, "/tmp/program.1.pftrace");
}

TestSuite(recover_check, .init = set_up);

static const char *header_flaw(void)
{
	return pft_check_header(session, session->bytes);
}

static void assert_says(const char *flaw, const char *part)
{
	cr_assert_not_null(flaw);
	cr_assert_not_null(strstr(flaw, part), "says: %s", flaw);
}

Test(recover_check, takes_what_is_good)
{
	cr_assert_null(header_flaw());
	cr_assert_null(pft_check_tables(session));
}

Test(recover_check, tells_what_is_no_session)
{
	session->magic++;
	assert_says(header_flaw(), "is no session");
}

Test(recover_check, tells_a_session_of_another_version)
{
	session->version++;
	assert_says(header_flaw(), "another version");
}

Test(recover_check, tells_a_compression_that_is_not_known)
{
	session->compress = PFT_COMPRESS_ZSTD;
	cr_assert_null(header_flaw());
	session->compress++;
	assert_says(header_flaw(), "damaged");
}

Test(recover_check, tells_a_file_that_was_cut)
{
	assert_says(pft_check_header(session, session->bytes - 1), "has been cut");
}

// Each a field and a value that must not be taken.
#define REFUSES(name, change)                                                                                \
	Test(recover_check, refuses_##name)                                                                  \
	{                                                                                                    \
		change;                                                                                      \
		assert_says(header_flaw(), "its header makes no sense");                                     \
	}

REFUSES(a_clock_that_is_not_known, session->clock = 2)
REFUSES(a_mode_that_is_not_known, session->mode = 3)
REFUSES(an_overflow_that_is_not_known, session->overflow = 3)
REFUSES(no_pid, session->pid = 0)
REFUSES(no_threads, session->threads_max = 0)
REFUSES(more_threads_than_rings, session->threads_max = 5)
REFUSES(threads_beyond_reason, session->threads_max = UINT32_MAX)
REFUSES(rings_of_no_power_of_two, session->ring_bytes = 3072)
REFUSES(rings_of_no_bytes, session->ring_bytes = 0)
REFUSES(rings_beyond_the_end, session->ring_bytes *= 2)
REFUSES(rings_beyond_reason, session->ring_bytes = UINT64_C(1) << 63)
REFUSES(hooks_beyond_reason, session->hooks = PFT_HOOKS_MAX + 1)
REFUSES(no_hooks_of_its_own, session->hooks = PFT_HOOK_FIRST - 1)
REFUSES(strings_beyond_their_room, session->strings_used = session->strings_bytes + 1)
REFUSES(no_strings, session->strings_bytes = session->strings_used = 0)
REFUSES(hooks_in_the_header, session->hooks_at = 64)
REFUSES(strings_in_the_hooks, session->strings_at = session->hooks_at)
REFUSES(mappings_in_the_strings, session->mappings_at = session->strings_at)
REFUSES(frames_in_the_mappings, session->frames_at = session->mappings_at)
REFUSES(threads_in_the_frames, session->threads_at = session->frames_at)
REFUSES(mappings_beyond_reason, session->mappings = PFT_MAPPINGS_MAX + 1)
REFUSES(frames_beyond_reason, session->frames_max = PFT_FRAMES_MAX + 1)
REFUSES(commits_in_the_threads, session->commit_at[0] = session->threads_at)
REFUSES(one_commit_in_the_other, session->commit_at[1] = session->commit_at[0])
REFUSES(commits_in_the_rings, session->commit_at[1] = session->rings_at)
REFUSES(small_commits, session->commit_bytes = sizeof(struct pft_commit))
REFUSES(a_crooked_place, session->rings_at += 8)
REFUSES(a_place_that_wraps, session->rings_at = -UINT64_C(4096))
REFUSES(a_name_without_end, memset(session->process, 'x', sizeof session->process))
REFUSES(a_path_without_end, memset(session->trace_path, 'x', sizeof session->trace_path))
REFUSES(selectors_without_end, memset(session->selectors, 'x', sizeof session->selectors))
REFUSES(a_command_line_beyond_its_room, session->cmdline_bytes = sizeof session->cmdline)

// ---- tables -----------------------------------------------------------------------------------------

static struct pft_commit_thread *kept(void)
{
	return pft_commit_thread(pft_session_commit(session, session->generation), 1);
}

#define REFUSES_TABLES(name, change)                                                                         \
	Test(recover_check, refuses_##name)                                                                  \
	{                                                                                                    \
		change;                                                                                      \
		assert_says(pft_check_tables(session), "its tables make no sense");                          \
	}

REFUSES_TABLES(
	a_symbol_outside_of_the_strings, pft_session_hook(session, 16)->symbol = session->strings_bytes)
REFUSES_TABLES(an_object_outside_of_the_strings, pft_session_hook(session, 16)->object = UINT32_MAX)
REFUSES_TABLES(a_string_without_end, *pft_session_string(session, session->strings_bytes - 1) = 'x')
REFUSES_TABLES(a_thread_that_begins_within_a_slot, pft_session_thread(session, 1)->begin_at = 72)
REFUSES_TABLES(foreign_calls_beyond_their_room, pft_session_commit(session, 0)->foreign = PFT_FOREIGN_MAX + 1)
REFUSES_TABLES(a_foreign_call_of_no_hook,
	(pft_session_commit(session, 0)->foreign = 1,
		pft_commit_foreign(session, pft_session_commit(session, 0))->id = UINT16_MAX))
REFUSES_TABLES(a_tail_within_a_slot, kept()->tail = 8)
REFUSES_TABLES(sequences_beyond_reason, pft_session_commit(session, 0)->sequences = UINT32_MAX)
REFUSES_TABLES(an_open_call_of_no_hook, (kept()->depth = 3, kept()->open[2].id = session->hooks))
REFUSES_TABLES(an_open_call_from_no_frame, (kept()->depth = 1, kept()->open[0].stack = session->frames_max))

Test(recover_check, takes_a_session_without_stacks)
{
	session->frames_max = 0;
	session->mappings_at = session->frames_at = 0;
	cr_assert_null(header_flaw());
}

Test(recover_check, takes_any_depth)
{
	kept()->depth = PFT_DEPTH_MAX + 7;
	cr_assert_null(pft_check_tables(session));
	kept()->depth = PFT_COMMIT_ENDED;
	cr_assert_null(pft_check_tables(session));
}

// ---- files ------------------------------------------------------------------------------------------

static int write_file(uint64_t bytes)
{
	int fd = pft_reader_file();

	cr_assert_eq(pwrite(fd, session, bytes, 0), (ssize_t)bytes);
	return fd;
}

Test(recover_check, loads_a_copy)
{
	const char *flaw;
	int fd = write_file(session->bytes);
	struct pft_session *copy = pft_load(fd, &flaw);

	cr_assert_not_null(copy, "says: %s", flaw);
	cr_assert_eq(memcmp(copy, session, session->bytes), 0);
	copy->pid++;
	pft_unload(copy);
	cr_assert_null(flaw);
	cr_assert_not_null(copy = pft_load(fd, &flaw));
	cr_assert_eq(copy->pid, session->pid);
}

Test(recover_check, loads_a_file_of_holes)
{
	const char *flaw;
	struct pft_session *copy;
	int fd = write_file(sizeof *session);

	cr_assert_eq(ftruncate(fd, (off_t)session->bytes), 0);
	copy = pft_load(fd, &flaw);
	cr_assert_not_null(copy, "says: %s", flaw);
	cr_assert_eq(copy->hooks, session->hooks);
	cr_assert_eq(pft_session_thread(copy, 1)->tid, 0);
}

Test(recover_check, says_why_a_file_is_not_loaded)
{
	const char *flaw;

	cr_assert_null(pft_load(write_file(100), &flaw));
	assert_says(flaw, "is no session");
	cr_assert_null(pft_load(write_file(session->bytes - 4096), &flaw));
	assert_says(flaw, "has been cut");
	cr_assert_null(pft_load(-1, &flaw));
	assert_says(flaw, "is no session");
	pft_session_hook(session, 16)->symbol = UINT32_MAX;
	cr_assert_null(pft_load(write_file(session->bytes), &flaw));
	assert_says(flaw, "its tables make no sense");
}
