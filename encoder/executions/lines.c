// SPDX-License-Identifier: MIT
// Builds lines in one buffer: see lines.h.
#include "encoder/executions/lines.h"

#include <stdio.h>

#include "encoder/json_text.h"
#include "encoder/report/units.h"

// A line with the longest command line and names that there can be.
#define LINE_BYTES (PFT_JSON_ARGS_MAX + 1024)

static char line_bytes[LINE_BYTES];
static bool colour;

void pft_lines_in_colour(bool wanted)
{
	colour = wanted;
}

struct pft_text pft_line_begin(void)
{
	return pft_text_in(line_bytes, sizeof line_bytes);
}

void pft_line_write(const struct pft_text *line)
{
	fwrite(line->start, 1, line->used, stdout);
}

void pft_line_print(const struct pft_text *line)
{
	pft_line_write(line);
	putchar('\n');
}

void pft_line_add_word(struct pft_text *line, const char *word, size_t width)
{
	size_t start = line->used;

	pft_text_add(line, word);
	pft_text_align_right(line, start, width);
}

void pft_line_add_cell(struct pft_text *line, pft_line_function *add, uint64_t value, size_t width)
{
	size_t start = line->used;

	add(line, value);
	pft_text_align_right(line, start, width);
}

void pft_line_add_name(struct pft_text *line, const char *name, size_t width)
{
	size_t start = line->used;

	for (const char *c = name; *c; c++)
		pft_text_add_bytes(line, (unsigned char)*c < ' ' || *c == 0x7f ? "?" : c, 1);
	while (line->used - start < width && !line->cut)
		pft_text_add(line, " ");
}

void pft_line_mark(struct pft_text *line, const char *sequence)
{
	if (colour)
		pft_text_add(line, sequence);
}
