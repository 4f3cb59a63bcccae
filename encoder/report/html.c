// SPDX-License-Identifier: MIT
// The report as a page: one file that needs no other and no network, with the JSON of each process in it,
// which the page's script shows. See report.h; the page itself is made of encoder/report/page/. The rule:
// what a trace holds stands in the data alone, where no byte of it can end the element that it is in
// (json_text.h).
#include "encoder/report/report.h"

#include <string.h>

extern const char pft_page_head[], pft_page_head_end[], pft_page_tail[], pft_page_tail_end[];

static void write_bytes(struct pft_out *out, const char *from, const char *end)
{
	while (from < end) {
		size_t left = (size_t)(end - from);
		size_t size = left < PFT_REPORT_LINE ? left : PFT_REPORT_LINE;
		uint8_t *room = pft_out_reserve(out, size);

		memcpy(room, from, size);
		pft_out_commit(out, room + size);
		from += size;
	}
}

static void write_line(struct pft_out *out, const char *text)
{
	struct pft_text line = pft_report_line(out);

	pft_text_add(&line, text);
	pft_report_end_line(out, &line);
}

void pft_report_html_open(struct pft_out *out)
{
	write_bytes(out, pft_page_head, pft_page_head_end);
}

void pft_report_html(struct pft_out *out, const struct pft_report *report, uint32_t processes)
{
	const struct pft_report_bounds bounds = {
		.functions = processes < 4 ? 1000 : 4000 / processes,
		.threads = processes < 4 ? 100 : 400 / processes,
		.chains = processes < 4 ? 5000 : 20000 / processes,
	};

	write_line(out, "<script type=\"application/json\" class=\"report\">");
	pft_report_json_within(out, report, &bounds);
	write_line(out, "</script>");
}

void pft_report_html_close(struct pft_out *out)
{
	write_bytes(out, pft_page_tail, pft_page_tail_end);
}
