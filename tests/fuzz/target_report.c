// SPDX-License-Identifier: MIT
// A trace becomes a report in every format: see targets.h.
#include <stdlib.h>
#include <unistd.h>

#include "encoder/report/feed.h"
#include "tests/fuzz/json.h"
#include "tests/fuzz/targets.h"

#define ROWS 20

static void text(struct pft_out *out, const struct pft_report *report)
{
	pft_report_text(out, report, ROWS, true);
}

static void write_one(const struct pft_report *report,
	void (*write)(struct pft_out *out, const struct pft_report *report), bool is_json)
{
	int fd = pft_fuzz_file(NULL, 0);
	struct pft_arena memory = {0};
	struct pft_out out;
	char *written;

	pft_fuzz_expect(pft_out_open(&out, fd, &memory) == 0, "there is memory");
	write(&out, report);
	pft_fuzz_expect(pft_out_flush(&out) == 0, "a report can be written");
	written = malloc(out.bytes + 1);
	pft_fuzz_expect(written && pread(fd, written, out.bytes, 0) == (ssize_t)out.bytes, "it can be read");
	if (is_json)
		pft_fuzz_expect(pft_fuzz_is_json(written, out.bytes), "a report is JSON");
	free(written);
	pft_arena_free(&memory);
	close(fd);
}

bool pft_fuzz_report(const uint8_t *bytes, size_t size)
{
	static struct pft_bottlenecks bottlenecks;
	int fd = pft_fuzz_file(bytes, size);
	struct pft_feed feed;

	pft_fuzz_expect(pft_feed_read(&feed, fd) == 0, "there is memory");
	if (feed.report.summary) {
		pft_fuzz_expect(pft_report_prepare(&feed.report, PFT_REPORT_BY_SELF, &bottlenecks) == 0,
			"there is memory");
		write_one(&feed.report, text, false);
		write_one(&feed.report, pft_report_json, true);
		write_one(&feed.report, pft_report_chrome, true);
		write_one(&feed.report, pft_report_folded, false);
	}
	pft_feed_release(&feed);
	close(fd);
	return !feed.wrong;
}
