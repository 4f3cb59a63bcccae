// SPDX-License-Identifier: MIT
// Unit tests of encoder/report/feed.c: traces that lack what this project's have. Run by Criterion. Traces
// are given byte by byte, as no writer here makes them.
#include "encoder/report/feed.h"

#include <criterion/criterion.h>
#include <unistd.h>

#include "tests/unit/reader.h"

// A packet: at 16 ns of CLOCK_BOOTTIME an event of a type, on track 7.
#define EVENT(type) 0x0a, 8, 0x40, 16, 0x5a, 4, 0x48, type, 0x58, 7

static struct pft_feed feed_of(const uint8_t *bytes, size_t size)
{
	int fd = pft_reader_file();
	struct pft_feed feed;

	cr_assert_eq(pwrite(fd, bytes, size, 0), (ssize_t)size);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(pft_feed_read(&feed, fd), 0);
	close(fd);
	return feed;
}

Test(feed, a_process_that_the_trace_does_not_describe_is_unnamed)
{
	const uint8_t trace[] = {EVENT(1), EVENT(2)};
	struct pft_feed feed = feed_of(trace, sizeof trace);

	cr_assert_null(feed.wrong, "%s", feed.wrong);
	cr_assert_not_null(feed.report.summary);
	cr_expect_eq(feed.report.summary->calls, 1);
	cr_expect_str_eq(feed.report.process, "(unnamed)");
	pft_feed_release(&feed);
}
