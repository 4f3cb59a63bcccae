// SPDX-License-Identifier: MIT
// Chains of callers with their own time, one a line: `outer;inner 1234`, in nanoseconds. As flamegraph.pl,
// speedscope and inferno read them. See report.h.
#include "encoder/report/report.h"

#include <stddef.h>

// In this format a semicolon separates, and a line ends a chain.
static void add_frame(struct pft_text *line, const char *name)
{
	for (; *name; name++)
		pft_text_add_bytes(line, *name == ';' ? ":" : *name == '\n' ? " " : name, 1);
}

static void add_chain(
	struct pft_text *line, const struct pft_report *report, const struct pft_tree_node *node)
{
	if (node->parent->parent != NULL) {
		add_chain(line, report, node->parent);
		pft_text_add(line, ";");
	}
	add_frame(line, pft_report_name(report, node->function));
}

static void write_below(
	struct pft_out *out, const struct pft_report *report, const struct pft_tree_node *node)
{
	for (node = node->children; node != NULL; node = node->next) {
		if (node->calls != 0) {
			struct pft_text line = pft_report_line(out);

			line.size -= 32; // the time always fits
			add_chain(&line, report, node);
			line.size += 32;
			pft_text_add(&line, " ");
			pft_text_add_number(&line, node->self_ns);
			pft_report_end_line(out, &line);
		}
		write_below(out, report, node);
	}
}

void pft_report_folded(struct pft_out *out, const struct pft_report *report)
{
	write_below(out, report, report->summary->tree.root);
}
