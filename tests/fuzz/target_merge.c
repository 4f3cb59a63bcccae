// SPDX-License-Identifier: MIT
// A trace, twice, becomes one: see targets.h.
#include <unistd.h>

#include "encoder/merge/join.h"
#include "encoder/merge/member.h"
#include "encoder/read/reader.h"
#include "tests/fuzz/targets.h"

static void ignore(void *user, const struct pft_read_event *event)
{
	(void)user;
	(void)event;
}

static struct pft_read_result read_again(int fd)
{
	lseek(fd, 0, SEEK_SET);
	return pft_read(fd, ignore, NULL);
}

// As segment `number` of one process.
static struct pft_joined join(struct pft_join *join, int fd, uint32_t number)
{
	lseek(fd, 0, SEEK_SET);
	return pft_join_member(join, fd, 1, number);
}

static bool merge(int from, int to)
{
	struct pft_sink sink = pft_sink_open(to);
	struct pft_join joint = pft_join_open(&sink);
	struct pft_joined first = join(&joint, from, 1);
	struct pft_joined second = {.wrong = first.wrong};
	struct pft_read_result alone, merged;

	if (!first.wrong)
		second = join(&joint, from, 2);
	pft_join_close(&joint);
	pft_fuzz_expect(pft_sink_close(&sink) == 0, "a merged trace can be written");
	if (second.wrong || second.other)
		return false;
	alone = read_again(from);
	if (alone.wrong) // in what merging copies without looking
		return false;
	merged = read_again(to);
	// Nothing is left of packets that only say whose they are.
	pft_fuzz_expect(!merged.wrong || merged.packets == 0, "a merged trace can be read");
	pft_fuzz_expect(merged.events + merged.skipped == 2 * (alone.events + alone.skipped),
		"a merged trace is the sum of its parts");
	return true;
}

bool pft_fuzz_merge(const uint8_t *bytes, size_t size)
{
	int from = pft_fuzz_file(bytes, size);
	int to = pft_fuzz_file(NULL, 0);
	struct pft_member member = {.path = "fuzz"};
	bool taken = !pft_member_look(&member, from) && merge(from, to);

	pft_member_free(&member);
	close(from);
	close(to);
	return taken;
}
