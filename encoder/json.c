// SPDX-License-Identifier: MIT
// Events as lines of JSON: see json.h. Flusher context. The rule: an entry stays on its track's stack until
// it is written, and its text stays with it.
#include "encoder/json.h"

#include <stdbool.h>
#include <string.h>

#include "encoder/array.h"
#include "encoder/json_file.h"

// Above every tid that Linux gives: PID_MAX_LIMIT.
#define FIBER_TID_FIRST (UINT64_C(4) << 20)

#define NONE UINT32_MAX

// Name, category and args of one slice; and the rest of a line.
#define TEXT_MAX (2 * PFT_JSON_STRING_MAX + PFT_JSON_ARGS_MAX + 64)
#define LINE_REST_MAX 256

_Static_assert(
	TEXT_MAX + PFT_JSON_ARGS_MAX + LINE_REST_MAX <= PFT_OUT_PACKET_MAX, "an event fits the buffer");

// More than this is held back only in traces whose clock is too coarse for them, with slices by the thousand
// that took no time.
#define HELD_MAX 2000

// A slice that is open, or has ended and is held back.
struct entry {
	uint64_t ns, end_ns;
	uint32_t parent; // the entry that is open around it, or NONE
	uint32_t text_at, text_size; // "name":...,"cat":... and the args so far
	uint32_t more_at, more_size; // args of the end
	bool has_args;
	bool ended;
	bool written; // ended, and for good
};

struct pft_json_track {
	struct pft_json *json;
	struct pft_json_ids ids;
	struct entry *entries;
	uint32_t entries_room, entries_used;
	uint32_t open; // the innermost open entry, or NONE
	uint32_t missing; // open slices inside of it for which there was no memory
	char *texts;
	uint32_t texts_room, texts_used;
	struct pft_json_track *next; // of all tracks
	struct pft_json_track *next_retired;
};

struct pft_json {
	struct pft_json_file file;
	struct pft_arena *memory;
	struct pft_json_track *all, *retired;
	uint64_t fibers;
	uint32_t held; // entries that may be held back
	char text[TEXT_MAX]; // for building
};

static struct pft_text start_line(const struct pft_json_track *track, char phase, size_t size)
{
	return pft_json_file_line(&track->json->file, phase, &track->ids, size);
}

static void end_line(const struct pft_json_track *track, struct pft_text *line)
{
	pft_json_file_end_line(&track->json->file, line);
}

// Name, category and args of an event in `room` of TEXT_MAX bytes; the args' brace is left open.
static struct pft_text build(
	char *room, const char *name, const char *category, const struct pft_arg *args, size_t count)
{
	struct pft_text text = pft_text_in(room, TEXT_MAX);

	pft_text_add(&text, ",\"name\":");
	pft_json_add_string(&text, name);
	if (category) {
		pft_text_add(&text, ",\"cat\":");
		pft_json_add_string(&text, category);
	}
	if (count) {
		pft_text_add(&text, ",\"args\":{");
		pft_json_add_args(&text, args, count);
	}
	return text;
}

// ---- open and close ---------------------------------------------------------------------------------

struct pft_json *pft_json_open(int fd, struct pft_arena *memory)
{
	struct pft_json *json = pft_arena_alloc(memory, sizeof *json);

	if (!json || pft_json_file_open(&json->file, fd, memory) < 0)
		return NULL;
	json->memory = memory;
	return json;
}

void pft_json_reopen(struct pft_json *json, int fd)
{
	json->file.out.fd = fd;
}

struct pft_json_point pft_json_point(const struct pft_json *json)
{
	return (struct pft_json_point){.bytes = json->file.out.bytes, .fibers = json->fibers};
}

struct pft_json *pft_json_resume(int fd, struct pft_json_point point, struct pft_arena *memory)
{
	struct pft_json *json;

	if (!point.bytes)
		return pft_json_open(fd, memory);
	json = pft_arena_alloc(memory, sizeof *json);
	if (!json || pft_json_file_resume(&json->file, fd, point.bytes, memory) < 0)
		return NULL;
	json->memory = memory;
	json->fibers = point.fibers;
	return json;
}

bool pft_json_lacks(const struct pft_json *json)
{
	return json->file.out.error != 0;
}

// ---- tracks -----------------------------------------------------------------------------------------

static void put_name(const struct pft_json_track *track, const char *what, const char *name)
{
	struct pft_text line = start_line(track, 'M', PFT_JSON_STRING_MAX);

	pft_text_add(&line, "0,\"name\":\"");
	pft_text_add(&line, what);
	pft_text_add(&line, "\",\"args\":{\"name\":");
	pft_json_add_string(&line, name);
	pft_text_add(&line, "}");
	end_line(track, &line);
}

void pft_json_process(struct pft_json *json, uint32_t pid, const char *name)
{
	const struct pft_json_track process = {.json = json, .ids = {.pid = pid, .tid = pid}};

	if (*name)
		put_name(&process, "process_name", name);
}

void pft_json_name(struct pft_json_track *track, const char *name)
{
	if (*name)
		put_name(track, "thread_name", name);
}

static struct pft_json_track *new_track(struct pft_json *json)
{
	struct pft_json_track *track = pft_arena_alloc(json->memory, sizeof *track);

	if (!track)
		return NULL;
	track->json = json;
	track->next = json->all;
	json->all = track;
	return track;
}

struct pft_json_track *pft_json_thread(struct pft_json *json, uint32_t pid, uint64_t tid)
{
	struct pft_json_track *track = json->retired;

	if (track)
		json->retired = track->next_retired;
	else
		track = new_track(json);
	if (!track)
		return NULL;
	track->ids = (struct pft_json_ids){.pid = pid, .tid = tid};
	track->open = NONE;
	track->missing = 0;
	return track;
}

struct pft_json_track *pft_json_fiber(struct pft_json *json, uint32_t pid)
{
	return pft_json_thread(json, pid, FIBER_TID_FIRST + json->fibers++);
}

uint64_t pft_json_tid(const struct pft_json_track *track)
{
	return track->ids.tid;
}

// ---- slices -----------------------------------------------------------------------------------------

// Keeps a copy of `text` on the track. False when out of memory.
static bool keep(struct pft_json_track *track, const struct pft_text *text)
{
	uint32_t end = track->texts_used + (uint32_t)text->used;

	if (end > track->texts_room) {
		char *grown = pft_array_grow(track->json->memory, track->texts, &track->texts_room, end, 1);

		if (!grown)
			return false;
		track->texts = grown;
	}
	memcpy(track->texts + track->texts_used, text->start, text->used);
	track->texts_used = end;
	return true;
}

static struct entry *push(struct pft_json_track *track)
{
	struct entry *entry;

	if (track->entries_used >= track->entries_room) {
		entry = pft_array_grow(track->json->memory, track->entries, &track->entries_room,
			track->entries_used, sizeof *entry);
		if (!entry)
			return NULL;
		track->entries = entry;
	}
	entry = &track->entries[track->entries_used++];
	*entry = (struct entry){.parent = track->open, .text_at = track->texts_used};
	return entry;
}

void pft_json_begin(struct pft_json_track *track, uint64_t ns, const char *name, const char *category,
	const struct pft_arg *args, size_t count)
{
	struct pft_text text = build(track->json->text, name, category, args, count);
	struct entry *entry = track->missing ? NULL : push(track);

	if (!entry) {
		track->missing++;
		return;
	}
	entry->ns = ns;
	if (keep(track, &text)) {
		entry->text_size = (uint32_t)text.used;
		entry->has_args = count != 0;
	}
	track->open = track->entries_used - 1;
}

static void put_args(struct pft_text *line, const struct pft_json_track *track, const struct entry *entry)
{
	pft_text_add_bytes(line, track->texts + entry->text_at, entry->text_size);
	if (entry->more_size) {
		if (!entry->has_args)
			pft_text_add(line, ",\"args\":{");
		else if (line->start[line->used - 1] != '{') // where no arg fitted
			pft_text_add(line, ",");
		pft_text_add_bytes(line, track->texts + entry->more_at, entry->more_size);
	}
	if (entry->has_args || entry->more_size)
		pft_text_add(line, "}");
}

static void put_entry(const struct pft_json_track *track, const struct entry *entry)
{
	struct pft_text line =
		start_line(track, entry->ended ? 'X' : 'B', entry->text_size + entry->more_size);

	pft_json_add_micros(&line, entry->ns);
	if (entry->ended) {
		pft_text_add(&line, ",\"dur\":");
		pft_json_add_micros(&line, entry->end_ns - entry->ns);
	}
	put_args(&line, track, entry);
	end_line(track, &line);
}

// Writes the entries from `index` on, which lie in the order of their begins.
static void put_entries(const struct pft_json_track *track, uint32_t index)
{
	for (; index < track->entries_used; index++)
		if (!track->entries[index].written)
			put_entry(track, &track->entries[index]);
}

// They stand in front of the parents that they began with, so they begin a nanosecond later: no viewer takes
// them for the parents of these.
static void put_ended_entries(const struct pft_json_track *track)
{
	for (uint32_t index = 0; index < track->entries_used; index++) {
		struct entry *entry = &track->entries[index];

		if (!entry->ended || entry->written)
			continue;
		entry->ns++;
		if (entry->end_ns < entry->ns)
			entry->end_ns = entry->ns;
		put_entry(track, entry);
		entry->written = true;
	}
}

static void pop_to(struct pft_json_track *track, uint32_t index)
{
	if (index < track->entries_used)
		track->texts_used = track->entries[index].text_at;
	track->entries_used = index;
}

static bool is_held(const struct pft_json_track *track, const struct entry *entry)
{
	return entry->parent != NONE && track->entries[entry->parent].ns == entry->ns &&
	       track->entries_used - entry->parent <= HELD_MAX;
}

static void keep_args(
	struct pft_json_track *track, struct entry *entry, const struct pft_arg *args, size_t count)
{
	struct pft_text text = pft_text_in(track->json->text, TEXT_MAX);

	pft_json_add_args(&text, args, count);
	entry->more_at = track->texts_used;
	if (keep(track, &text))
		entry->more_size = (uint32_t)text.used;
}

void pft_json_end(struct pft_json_track *track, uint64_t ns, const struct pft_arg *args, size_t count)
{
	uint32_t index = track->open;
	struct entry *entry;

	if (track->missing) {
		track->missing--;
		return;
	}
	if (index == NONE)
		return;
	entry = &track->entries[index];
	entry->ended = true;
	entry->end_ns = ns > entry->ns ? ns : entry->ns;
	if (count)
		keep_args(track, entry, args, count);
	track->open = entry->parent;
	if (is_held(track, entry)) {
		track->json->held++;
		return;
	}
	put_entries(track, index);
	pop_to(track, index);
}

void pft_json_retire(struct pft_json_track *track)
{
	put_entries(track, 0);
	pop_to(track, 0);
	track->next_retired = track->json->retired;
	track->json->retired = track;
}

// ---- other events -----------------------------------------------------------------------------------

void pft_json_instant(struct pft_json_track *track, uint64_t ns, const char *name, const char *category,
	const struct pft_arg *args, size_t count)
{
	struct pft_text text = build(track->json->text, name, category, args, count);
	struct pft_text line = start_line(track, 'i', text.used);

	pft_json_add_micros(&line, ns);
	pft_text_add(&line, ",\"s\":\"t\"");
	pft_text_add_bytes(&line, text.start, text.used);
	if (count)
		pft_text_add(&line, "}");
	end_line(track, &line);
}

void pft_json_lost(struct pft_json_track *track, uint64_t ns, uint64_t dropped)
{
	const struct pft_arg arg = {.name = "dropped", .kind = PFT_ARG_UNSIGNED, .number = dropped};

	pft_json_instant(track, ns, "pftshim: events lost", "pftshim", &arg, 1);
}

void pft_json_counter(
	struct pft_json_track *track, uint64_t ns, const char *name, const struct pft_arg *value)
{
	struct pft_text text = build(track->json->text, name, NULL, value, 1);
	struct pft_text line = start_line(track, 'C', text.used);

	pft_json_add_micros(&line, ns);
	pft_text_add_bytes(&line, text.start, text.used);
	pft_text_add(&line, "}");
	end_line(track, &line);
}

// An id as text: numbers of 64 bits do not survive a viewer. The end says that it binds to the slice around
// it and not to the next one.
void pft_json_flow(struct pft_json_track *track, uint64_t ns, enum pft_json_flow flow, uint64_t id)
{
	struct pft_text line = start_line(track, (char)flow, 0);

	pft_json_add_micros(&line, ns);
	pft_text_add(&line, ",\"name\":\"flow\",\"cat\":\"flow\",\"id\":\"0x");
	pft_text_add_hex(&line, id);
	pft_text_add(&line, flow == PFT_JSON_FLOW_END ? "\",\"bp\":\"e\"" : "\"");
	end_line(track, &line);
}

// ---- the end ----------------------------------------------------------------------------------------

void pft_json_let_go(struct pft_json *json)
{
	for (struct pft_json_track *track = json->held ? json->all : NULL; track; track = track->next)
		put_ended_entries(track);
	json->held = 0;
}

// Behind the end there is nothing to let go: it holds what is held back, beside the parents.
int pft_json_flush(struct pft_json *json)
{
	if (!json->file.finished)
		pft_json_let_go(json);
	return pft_out_flush(&json->file.out);
}

void pft_json_finish(struct pft_json *json, const struct pft_arg *other, size_t count)
{
	uint64_t mark = pft_json_file_mark(&json->file);
	bool any = json->file.any;

	for (struct pft_json_track *track = json->all; track; track = track->next)
		put_entries(track, 0);
	pft_json_file_finish(&json->file, mark, other, count);
	json->file.any = any;
}

void pft_json_turn(struct pft_json *json, int fd)
{
	for (struct pft_json_track *track = json->all; track; track = track->next) {
		pop_to(track, 0);
		track->open = NONE;
		track->missing = 0;
	}
	pft_json_file_turn(&json->file, fd);
}
