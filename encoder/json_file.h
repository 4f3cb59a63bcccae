// SPDX-License-Identifier: MIT
// A file of Chrome JSON as lines: its beginning, one event a line, and an end that stands there after every
// write. Called by json.c. Flusher context. The rule: the file is JSON whenever nobody is writing.
#ifndef PFT_JSON_FILE_H
#define PFT_JSON_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/base/text.h"
#include "encoder/json_text.h"
#include "encoder/out.h"

struct pft_json_file {
	struct pft_out out;
	bool any; // an event was written
	bool finished;
};

// Whose event it is.
struct pft_json_ids {
	uint32_t pid;
	uint64_t tid;
};

// Room in a line beside its head for what has a bounded length: numbers, and names of fields.
#define PFT_JSON_LINE_REST 128

// Starts writing to `fd`, an empty regular file. 0 or -ENOMEM.
int pft_json_file_open(struct pft_json_file *file, int fd, struct pft_arena *memory);

// Goes on behind the first `bytes` of a file that an earlier one wrote: a whole number of lines, and there is
// no more in it. 0 or -ENOMEM.
int pft_json_file_resume(struct pft_json_file *file, int fd, uint64_t bytes, struct pft_arena *memory);

// The file ends here, which must be finished and written; `fd` is the next one, empty.
void pft_json_file_turn(struct pft_json_file *file, int fd);

// A line up to the value of "ts", with room for `size` bytes and PFT_JSON_LINE_REST more. The line must be
// ended before the next one.
struct pft_text pft_json_file_line(
	struct pft_json_file *file, char phase, const struct pft_json_ids *ids, size_t size);
void pft_json_file_end_line(struct pft_json_file *file, struct pft_text *line);

// What is written from here on belongs to the end, which the next line after `finish` takes back.
uint64_t pft_json_file_mark(struct pft_json_file *file);
void pft_json_file_finish(
	struct pft_json_file *file, uint64_t mark, const struct pft_arg *other, size_t count);

#endif
