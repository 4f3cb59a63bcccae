// SPDX-License-Identifier: MIT
// Replays what fuzzing has kept (tests/fuzz/corpus) through what is fuzzed: nothing of it breaks a promise
// any more. Run by Criterion, from the project's directory; make asan sees what goes beyond its bounds.
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/json.h"
#include "tests/fuzz/targets.h"

#define INPUT_MAX (64u << 10)

TestSuite(fuzz, .timeout = 300);

struct replayed {
	unsigned files, taken;
};

static bool replay_file(pft_fuzz_target *target, const char *path)
{
	static uint8_t bytes[INPUT_MAX + 1];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = read(fd, bytes, sizeof bytes);

	cr_assert(size >= 0 && size <= (ssize_t)INPUT_MAX, "%s: cannot be read, or is too large", path);
	close(fd);
	return target(bytes, (size_t)size);
}

static struct replayed replay(pft_fuzz_target *target, const char *directory)
{
	DIR *entries = opendir(directory);
	struct replayed replayed = {0};
	char path[512];

	cr_assert_not_null(entries, "%s: is not there; tests run in the project's directory", directory);
	for (struct dirent *entry; (entry = readdir(entries));) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
		replayed.files++;
		replayed.taken += replay_file(target, path);
	}
	closedir(entries);
	return replayed;
}

// A corpus that the readers refuse tests nothing behind their first checks: it has to be renewed.
static void assert_reaches(struct replayed replayed)
{
	cr_assert_gt(replayed.files, 0);
	cr_assert_gt(10 * replayed.taken, replayed.files, "%u of %u", replayed.taken, replayed.files);
}

Test(fuzz, what_was_found_converts_to_json_or_is_refused)
{
	assert_reaches(replay(pft_fuzz_convert, "tests/fuzz/corpus/trace"));
}

Test(fuzz, what_was_found_is_reported_or_refused)
{
	assert_reaches(replay(pft_fuzz_report, "tests/fuzz/corpus/trace"));
}

Test(fuzz, what_was_found_merges_or_is_refused)
{
	assert_reaches(replay(pft_fuzz_merge, "tests/fuzz/corpus/trace"));
}

Test(fuzz, what_was_found_is_recovered_or_refused)
{
	assert_reaches(replay(pft_fuzz_recover, "tests/fuzz/corpus/session"));
}

// ---- the judge of JSON ------------------------------------------------------------------------------

static bool is_json(const char *text)
{
	return pft_fuzz_is_json(text, strlen(text));
}

Test(fuzz, json_is_told_from_what_is_none)
{
	cr_expect(is_json(
		" {\"a\" : [1, -0.5e+3, true, null, \"\\u00e9\\n\xc3\xa9\xf0\x9f\x98\x80\"], \"\":{}} "));
	cr_expect_not(is_json(""));
	cr_expect_not(is_json("[1,]"));
	cr_expect_not(is_json("{\"a\" 1}"));
	cr_expect_not(is_json("[01]"));
	cr_expect_not(is_json("[1.]"));
	cr_expect_not(is_json("[nan]"));
	cr_expect_not(is_json("[1] 2"));
	cr_expect_not(is_json("\"\n\""));
	cr_expect_not(is_json("\"\\x\""));
	cr_expect_not(is_json("\"\\u12g4\""));
	cr_expect_not(is_json("\"\xc0\x80\""));
	cr_expect_not(is_json("\"\xe0\x80\x80\""));
	cr_expect_not(is_json("\"\xed\xa0\x80\""));
	cr_expect_not(is_json("\"\xf4\x90\x80\x80\""));
	cr_expect_not(is_json("\"\xc3\""));
	cr_expect_not(is_json("[[1]"));
}
