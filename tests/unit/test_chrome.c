// SPDX-License-Identifier: MIT
// Unit tests of encoder/read/chrome.c: a trace that is converted becomes what would have been written at
// once. Run by Criterion.
#include "encoder/read/chrome.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define START UINT64_C(1000000000)

static const struct pft_clocks clocks = {
	.boot_ns = START, .monotonic_ns = START - 100, .real_ns = UINT64_C(1700000000000000000)};
static const struct pft_totals totals = {.produced = 9, .written = 8, .filtered = 1};

static struct pft_session *session;
static struct pft_trace *trace;
static int packets_fd, json_fd;

static void start(void)
{
	session = pft_fake_session(4096, 4);
	session->pid = 42;
	packets_fd = pft_reader_file();
	json_fd = pft_reader_file();
	trace = pft_trace_open(session, packets_fd, clocks, 0);
	cr_assert_eq(pft_trace_json(trace, json_fd), 0);
}

TestSuite(chrome, .init = start);

static char *content(int fd)
{
	struct stat found;
	char *bytes;

	cr_assert_eq(fstat(fd, &found), 0);
	bytes = malloc((size_t)found.st_size + 1);
	cr_assert_not_null(bytes);
	cr_assert_eq(pread(fd, bytes, (size_t)found.st_size, 0), found.st_size);
	bytes[found.st_size] = '\0';
	return bytes;
}

// The framework would show all of two long texts.
static void expect_same(const char *text, const char *expected)
{
	size_t same = 0;

	while (text[same] && text[same] == expected[same])
		same++;
	cr_assert_eq(text[same], expected[same], "from byte %zu on: %.300s\nexpected: %.300s", same,
		text + same, expected + same);
}

static void converts_to_the_same(void)
{
	int converted_fd = pft_reader_file();
	struct pft_chrome_result result;

	cr_assert_eq(lseek(packets_fd, 0, SEEK_SET), 0);
	result = pft_chrome_convert(packets_fd, converted_fd);
	cr_assert_null(result.wrong);
	cr_assert_eq(result.error, 0);
	cr_assert_eq(result.left_out, 0);
	expect_same(content(converted_fd), content(json_fd));
}

Test(chrome, makes_of_packets_the_json_that_was_written_beside_them)
{
	uint32_t hook = pft_fake_hook(session, "libz.so.1", "inflate");
	uint32_t odd = pft_fake_hook(session, "lib\"odd\n.so", "\xff\x01name\\");
	struct pft_track *thread = pft_trace_thread(trace, 43, "worker"), *other, *fiber;

	pft_trace_instant(thread, START, "thread begin", "thread");
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_begin(thread, START + 1, odd, 0);
	pft_trace_begin(thread, START + 1, hook, 0);
	pft_trace_end(thread, START + 2, 0);
	other = pft_trace_thread(trace, 44, "");
	pft_trace_begin(other, START + 2, odd, 0);
	pft_trace_end(thread, START + 3, 0);
	fiber = pft_trace_fiber(thread, "coroutine 1");
	pft_trace_name(other, "renamed");
	pft_trace_begin(fiber, START + 2, hook, 0);
	pft_trace_end_unwound(thread, START + 4);
	pft_trace_end(fiber, START + 5, 0);
	pft_trace_begin(thread, START + 6, hook, 0);
	pft_trace_gap(thread, START + 7, 77);
	pft_trace_begin(thread, START + 8, hook, 0);
	pft_trace_end(other, START + 9, 0);
	pft_trace_instant(other, START + 9, "i", "a,b");
	cr_assert_eq(pft_trace_close(trace, totals), 0);
	converts_to_the_same();
}

// What a chance brings: calls of any depth on several threads and coroutines, with gaps, at equal times as
// well.
Test(chrome, makes_the_same_of_any_calls)
{
	struct pft_track *tracks[6];
	uint64_t ns = START;
	uint32_t hooks[5], chance = 7;

	for (uint32_t i = 0; i < 5; i++) {
		const char name[] = {(char)('a' + i), '\0'};

		hooks[i] = pft_fake_hook(session, "libc.so.6", name);
	}
	for (uint32_t i = 0; i < 3; i++) {
		tracks[i] = pft_trace_thread(trace, 100 + i, "thread");
		tracks[3 + i] = pft_trace_fiber(tracks[i], "coroutine 1");
	}
	for (int i = 0; i < 20000; i++) {
		uint32_t which = (chance >> 8) % 6;
		struct pft_track *track = tracks[which];

		chance = chance * 1664525 + 1013904223;
		ns += (chance >> 16) % 3;
		if ((chance >> 20) % 100 == 0)
			pft_trace_gap(track, ns, which < 3 ? 1 + chance % 5 : 0); // told of threads only
		else if ((chance >> 20) % 9 < 4)
			pft_trace_begin(track, ns, hooks[(chance >> 12) % 5], 0);
		else if ((chance >> 20) % 9 < 8)
			pft_trace_end(track, ns, 0);
		else
			pft_trace_end_unwound(track, ns);
	}
	cr_assert_eq(pft_trace_close(trace, totals), 0);
	converts_to_the_same();
}

Test(chrome, says_what_is_wrong)
{
	struct pft_chrome_result result = pft_chrome_convert(pft_reader_file(), pft_reader_file());

	cr_assert_str_eq(result.wrong, "is empty");
	cr_assert_eq(pft_trace_close(trace, totals), 0);
	cr_assert_eq(lseek(packets_fd, 0, SEEK_SET), 0);
	result = pft_chrome_convert(packets_fd, open("/dev/full", O_WRONLY | O_CLOEXEC));
	cr_assert_null(result.wrong);
	cr_assert_lt(result.error, 0);
}
