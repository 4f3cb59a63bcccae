// SPDX-License-Identifier: MIT
// Unit tests of what encoder/recover/ makes of sessions that somebody has tampered with: it refuses them, or
// makes some trace of them, and comes to an end. Run by Criterion; make asan sees what goes beyond its
// bounds.
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/check.h"
#include "encoder/recover/complete.h"
#include "encoder/recover/whole.h"
#include "encoder/replay.h"
#include "tests/unit/fake_ring.h"
#include "tests/unit/reader.h"

#define ROUNDS 3000

static struct pft_session *session, *mutant;
static uint64_t seed = 1;
static int fd;

// The trace as it was committed.
static char written[65536];
static ssize_t written_bytes;

// xorshift64
static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static void record(struct pft_fake_ring *ring, uint32_t hook, unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++) {
		pft_fake_begin(ring, 100 * i, hook);
		pft_fake_foreign_begin(ring, 100 * i + 10, hook, 0x1000 + i);
		if (i % 3 == 0)
			pft_fake_gap(ring, 100 * i + 20, 4, 2);
		pft_fake_foreign_end(ring, 100 * i + 30, 0x1000 + i);
		if (i % 2 == 0)
			pft_fake_end(ring, 100 * i + 40);
	}
}

static void set_up(void)
{
	struct pft_fake_ring first, second;
	struct pft_replay *replay;
	struct pft_clocks clocks;
	uint32_t hook;

	session = pft_fake_session(1024, 3);
	mutant = pft_fake_session(1024, 3);
	hook = pft_fake_hook(session, "object", "f");
	clocks = pft_fake_clocks(session, 0);
	first = pft_fake_ring(session, 0, 100, "first", 64);
	second = pft_fake_ring(session, 2, 101, "second", 0);
	fd = pft_reader_file();
	replay = pft_replay_open(session, fd, clocks);
	pft_replay_clocks(replay, session->start_ticks, clocks);
	record(&first, hook, 3);
	pft_fake_foreign_begin(&first, 900, hook, 0x2000);
	pft_fake_foreign_begin(&first, 910, hook, 0x1f00);
	pft_replay_drain(replay, 0, first.head, false);
	pft_replay_pass(replay, true);
	pft_replay_commit(replay);
	written_bytes = pread(fd, written, sizeof written, 0);
	pft_fake_foreign_end(&first, 920, 0x1f00);
	record(&first, hook, 3);
	record(&second, hook, 4);
	pft_fake_exit(&second, 5000);
}

TestSuite(recover_mutated, .init = set_up, .timeout = 300);

// Numbers that somebody would try.
static uint64_t bad_number(void)
{
	static const uint64_t numbers[] = {
		0, 1, 8, 16, 4095, 65536, UINT32_MAX, INT64_MAX, UINT64_MAX - 15, UINT64_MAX};

	return numbers[any(sizeof numbers / sizeof numbers[0])];
}

static void mutate(uint64_t from, uint64_t bytes)
{
	char *at = (char *)mutant + from + any(bytes / 4) * 4;
	uint64_t number = any(2) ? bad_number() : seed;

	if (any(2))
		memcpy(at, &number, 4);
	else
		*at ^= (char)(1 << any(8));
}

// One of the parts: those that are followed, not the texts.
static void mutate_somewhere(void)
{
	uint64_t thread = sizeof(struct pft_session_thread);

	switch (any(6)) {
	case 0:
		mutate(offsetof(struct pft_session, clock), offsetof(struct pft_session, process));
		break;
	case 1:
		mutate(session->threads_at, 3 * thread);
		break;
	case 2:
		mutate(session->commit_at[1], sizeof(struct pft_commit) + 256);
		break;
	case 3:
		mutate((uint64_t)((char *)pft_commit_foreign(session, pft_session_commit(session, 1)) -
				  (char *)session),
			3 * sizeof(struct pft_open_foreign));
		break;
	case 4:
		mutate(session->hooks_at, (PFT_HOOK_FIRST + 1) * sizeof(struct pft_session_hook));
		break;
	default:
		mutate(session->rings_at, 3 * session->ring_bytes);
	}
}

static bool is_taken(uint64_t bytes)
{
	return !pft_check_header(mutant, bytes) && !pft_check_tables(mutant);
}

Test(recover_mutated, is_refused_or_makes_a_trace)
{
	struct pft_completed completed;
	unsigned taken = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct stat found;

		memcpy(mutant, session, session->bytes);
		for (uint64_t count = 1 + any(4); count > 0; count--)
			mutate_somewhere();
		cr_assert_eq(pwrite(fd, written, (size_t)written_bytes, 0), written_bytes);
		if (!is_taken(session->bytes) || pft_complete(mutant, fd, -1, &completed) != 0)
			continue;
		taken++;
		cr_assert_eq(fstat(fd, &found), 0);
		cr_assert_eq(pft_whole_find(fd, (uint64_t)found.st_size).rest, PFT_REST_NONE);
	}
	cr_assert_gt(taken, ROUNDS / 4);
	cr_assert_lt(taken, ROUNDS);
}
