// SPDX-License-Identifier: MIT
// Lines of JSON in a file: see json_file.h. Flusher context.
#include "encoder/json_file.h"

#include <string.h>

#define HEAD_MAX 96

static const char head[] = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[";
static const char line_end[] = "\n]}\n";

static void begin(struct pft_json_file *file)
{
	uint8_t *at = pft_out_reserve(&file->out, sizeof head);

	memcpy(at, head, sizeof head - 1);
	pft_out_commit(&file->out, at + sizeof head - 1);
	pft_out_set_ending(&file->out, line_end);
}

int pft_json_file_open(struct pft_json_file *file, int fd, struct pft_arena *memory)
{
	int error = pft_out_open(&file->out, fd, memory);

	if (!error)
		begin(file);
	return error;
}

int pft_json_file_resume(struct pft_json_file *file, int fd, uint64_t bytes, struct pft_arena *memory)
{
	int error = pft_out_open(&file->out, fd, memory);

	if (error)
		return error;
	file->out.bytes = bytes;
	file->any = bytes > sizeof head - 1;
	pft_out_set_ending(&file->out, line_end);
	return 0;
}

void pft_json_file_turn(struct pft_json_file *file, int fd)
{
	pft_out_turn(&file->out, fd);
	file->any = file->finished = false;
	begin(file);
}

static void take_finish_back(struct pft_json_file *file)
{
	if (!file->finished)
		return;
	file->finished = false;
	pft_out_set_ending(&file->out, line_end);
}

struct pft_text pft_json_file_line(
	struct pft_json_file *file, char phase, const struct pft_json_ids *ids, size_t size)
{
	struct pft_text line;

	take_finish_back(file);
	size += HEAD_MAX + PFT_JSON_LINE_REST;
	line = pft_text_in((char *)pft_out_reserve(&file->out, size), size);
	pft_text_add(&line, file->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	pft_text_add_bytes(&line, &phase, 1);
	pft_text_add(&line, "\",\"pid\":");
	pft_text_add_number(&line, ids->pid);
	pft_text_add(&line, ",\"tid\":");
	pft_text_add_number(&line, ids->tid);
	pft_text_add(&line, ",\"ts\":");
	file->any = true;
	return line;
}

void pft_json_file_end_line(struct pft_json_file *file, struct pft_text *line)
{
	pft_text_add(line, "}");
	pft_out_commit_event(&file->out, (uint8_t *)line->start + line->used);
}

uint64_t pft_json_file_mark(struct pft_json_file *file)
{
	pft_out_drain(&file->out);
	return file->out.bytes;
}

static void put_other(struct pft_json_file *file, const struct pft_arg *other, size_t count)
{
	size_t size = PFT_JSON_ARGS_MAX + PFT_JSON_LINE_REST;
	struct pft_text text = pft_text_in((char *)pft_out_reserve(&file->out, size), size);

	pft_text_add(&text, "\n],\"otherData\":{");
	pft_json_add_args(&text, other, count);
	pft_text_add(&text, "}}\n");
	pft_out_commit(&file->out, (uint8_t *)text.start + text.used);
}

void pft_json_file_finish(
	struct pft_json_file *file, uint64_t mark, const struct pft_arg *other, size_t count)
{
	pft_out_set_ending(&file->out, NULL);
	put_other(file, other, count);
	pft_out_end_from(&file->out, mark);
	file->finished = true;
}
