// SPDX-License-Identifier: MIT
// A list as a table: see shown.h.
#include "encoder/executions/shown.h"

#include <string.h>
#include <time.h>

#include "encoder/executions/lines.h"
#include "encoder/report/units.h"
#include "encoder/terminal/colour.h"

#define AGE_COLUMN 8
#define COUNT_COLUMN 11
#define SIZE_COLUMN 11

uint64_t pft_listed_age_s(const struct pft_listed *execution)
{
	int64_t now = time(NULL);

	return now > execution->written_s ? (uint64_t)(now - execution->written_s) : 0;
}

static size_t widest_id(const struct pft_list *list)
{
	size_t widest = sizeof "execution" - 1;

	for (uint32_t i = 0; i < list->count; i++) {
		size_t length = strlen(list->executions[i].id);

		widest = length > widest ? length : widest;
	}
	return widest;
}

static void add_state(struct pft_text *line, uint32_t count, const char *sequence, const char *words)
{
	if (count == 0)
		return;
	pft_text_add(line, "  ");
	pft_line_mark(line, sequence);
	pft_text_add_number(line, count);
	pft_text_add(line, words);
	pft_line_mark(line, PFT_COLOUR_END);
}

static void print_execution(const struct pft_listed *execution, size_t id_width)
{
	struct pft_text line = pft_line_begin();

	pft_line_add_cell(&line, pft_text_add_age, pft_listed_age_s(execution), AGE_COLUMN);
	pft_line_add_cell(&line, pft_text_add_count, execution->processes, COUNT_COLUMN);
	pft_line_add_cell(&line, pft_text_add_size, execution->bytes, SIZE_COLUMN);
	pft_text_add(&line, "  ");
	pft_line_add_name(&line, execution->id, id_width);
	pft_text_add(&line, "  ");
	pft_line_add_name(&line, execution->program, 0);
	add_state(&line, execution->running, PFT_COLOUR_GOOD, " running");
	add_state(&line, execution->killed, PFT_COLOUR_WARNING, " killed");
	pft_line_print(&line);
}

void pft_list_print(const struct pft_list *list)
{
	struct pft_text line = pft_line_begin();
	size_t id_width = widest_id(list);

	pft_line_mark(&line, PFT_COLOUR_HEADING);
	pft_line_add_word(&line, "age", AGE_COLUMN);
	pft_line_add_word(&line, "processes", COUNT_COLUMN);
	pft_line_add_word(&line, "size", SIZE_COLUMN);
	pft_text_add(&line, "  ");
	pft_line_add_name(&line, "execution", id_width);
	pft_text_add(&line, "  program");
	pft_line_mark(&line, PFT_COLOUR_END);
	pft_line_print(&line);
	for (uint32_t i = 0; i < list->count; i++)
		print_execution(&list->executions[i], id_width);
}
