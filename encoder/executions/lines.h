// SPDX-License-Identifier: MIT
// Lines of tables on standard output. Called by the programs that list and remove executions. An ordinary
// program's context. One line at a time. The rule: names are somebody's, and no control character of them
// reaches a terminal.
#ifndef PFT_EXECUTIONS_LINES_H
#define PFT_EXECUTIONS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/base/text.h"

// Whether pft_line_mark does anything. Off at first.
void pft_lines_in_colour(bool wanted);

// Room for what pft_json_add_args adds, and more.
struct pft_text pft_line_begin(void);

// Without and with a line's end.
void pft_line_write(const struct pft_text *line);
void pft_line_print(const struct pft_text *line);

// At the right end of a column.
void pft_line_add_word(struct pft_text *line, const char *word, size_t width);

typedef void pft_line_function(struct pft_text *line, uint64_t value);
void pft_line_add_cell(struct pft_text *line, pft_line_function *add, uint64_t value, size_t width);

// As it may be shown, and blanks up to `width`.
void pft_line_add_name(struct pft_text *line, const char *name, size_t width);

// Colours what follows: see colour.h.
void pft_line_mark(struct pft_text *line, const char *sequence);

#endif
