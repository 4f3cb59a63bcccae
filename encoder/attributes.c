// SPDX-License-Identifier: MIT
// Facts of a trace: see attributes.h. Flusher context. The rule: a field of the session may fill its room
// without an end.
#include "encoder/attributes.h"

#include <string.h>

#include "encoder/base/text.h"
#include "encoder/session.h"
#include "encoder/trace.h"
#include "encoder/version.h"

size_t pft_attributes_cmdline_bytes(const struct pft_session *session)
{
	size_t size = session->cmdline_bytes;

	return size < sizeof session->cmdline ? size : sizeof session->cmdline;
}

static const char *last_part(const char *field, size_t room, struct pft_arena *arena)
{
	const char *path = pft_arena_copy(arena, field, strnlen(field, room));
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

const char *pft_attributes_process(const struct pft_session *session, struct pft_arena *arena)
{
	return last_part(session->process, sizeof session->process, arena);
}

const char *pft_attributes_relative(const struct pft_relative *relative, struct pft_arena *arena)
{
	return last_part(relative->process, sizeof relative->process, arena);
}

// ---- labels -----------------------------------------------------------------------------------------

static size_t add_label(const char **labels, size_t count, struct pft_text *text, struct pft_arena *arena)
{
	labels[count] = pft_arena_copy(arena, text->start, text->used);
	return count + (labels[count] != NULL);
}

static size_t label_relative(const char **labels, size_t count, const char *how,
	const struct pft_relative *relative, struct pft_arena *arena)
{
	char room[128];
	struct pft_text text = pft_text_in(room, sizeof room);
	const char *process = pft_attributes_relative(relative, arena);

	if (!relative->real_ns || !process)
		return count;
	pft_text_add(&text, how);
	pft_text_add(&text, process);
	pft_text_add(&text, " (");
	pft_text_add_number(&text, relative->pid);
	pft_text_add(&text, ")");
	return add_label(labels, count, &text, arena);
}

static size_t label_pid(
	const char **labels, size_t count, const struct pft_session *session, struct pft_arena *arena)
{
	char room[32];
	struct pft_text text = pft_text_in(room, sizeof room);

	if (!session->outer_pid)
		return count;
	pft_text_add(&text, "outside pid ");
	pft_text_add_number(&text, session->outer_pid);
	return add_label(labels, count, &text, arena);
}

size_t pft_attributes_labels(
	const char *labels[PFT_LABELS_MAX], const struct pft_session *session, struct pft_arena *arena)
{
	size_t count = 0;

	count = label_relative(labels, count, "child of ", &session->parent, arena);
	count = label_relative(labels, count, "before exec ", &session->before, arena);
	return label_pid(labels, count, session, arena);
}

// ---- attributes -------------------------------------------------------------------------------------

// The arguments with blanks between them.
const char *pft_attributes_cmdline(const struct pft_session *session, struct pft_arena *arena)
{
	size_t size = pft_attributes_cmdline_bytes(session);
	char *line = pft_arena_copy(arena, session->cmdline, size);

	if (!line)
		return NULL;
	while (size && !line[size - 1])
		size--;
	for (size_t i = 0; i < size; i++)
		if (!line[i])
			line[i] = ' ';
	return line;
}

static size_t add_text(struct pft_attribute *list, size_t count, const char *key, const char *text)
{
	if (!text)
		return count;
	list[count] = (struct pft_attribute){.key = key, .text = text};
	return count + 1;
}

static size_t add_number(struct pft_attribute *list, size_t count, const char *key, uint64_t number)
{
	list[count] = (struct pft_attribute){.key = key, .number = number};
	return count + 1;
}

static size_t add_origin(
	struct pft_attribute *list, size_t count, const struct pft_session *session, struct pft_arena *arena)
{
	const struct pft_relative *parent = &session->parent, *before = &session->before;

	count = add_number(list, count, "pftshim.parent_pid", session->parent_pid);
	if (parent->real_ns) {
		count = add_text(list, count, "pftshim.parent", pft_attributes_relative(parent, arena));
		count = add_text(list, count, "pftshim.parent_execution",
			pft_arena_copy(arena, parent->execution,
				strnlen(parent->execution, sizeof parent->execution)));
		if (parent->pid != session->parent_pid)
			count = add_number(list, count, "pftshim.ancestor_pid", parent->pid);
	}
	if (before->real_ns)
		count = add_text(list, count, "pftshim.before_exec", pft_attributes_relative(before, arena));
	if (session->outer_pid)
		count = add_number(list, count, "pftshim.outer_pid", session->outer_pid);
	return count;
}

static size_t add_usage(struct pft_attribute *list, size_t count, const struct pft_session *session)
{
	count = add_number(list, count, "pftshim.peak_rss_bytes", session->peak_rss_bytes);
	count = add_number(list, count, "pftshim.minor_faults", session->minor_faults);
	return add_number(list, count, "pftshim.major_faults", session->major_faults);
}

static size_t add_segment(struct pft_attribute *list, size_t count, const struct pft_segments *segments,
	const struct pft_totals *totals)
{
	count = add_number(
		list, count, "pftshim.segment_written", totals->written - segments->written_before);
	count = add_number(list, count, "pftshim.segments_removed", segments->removed);
	return add_number(list, count, "pftshim.events_removed", segments->events_removed);
}

size_t pft_attributes_list(struct pft_attribute list[PFT_ATTRIBUTES_MAX], const struct pft_session *session,
	const struct pft_totals *totals, uint64_t duration_ns, struct pft_arena *arena)
{
	size_t selectors_bytes = strnlen(session->selectors, sizeof session->selectors);
	size_t count = 0;

	count = add_text(list, count, "pftshim.version", PFT_VERSION);
	count = add_text(list, count, "pftshim.mode", session->mode == PFT_MODE_DEV ? "dev" : "user");
	count = add_text(
		list, count, "pftshim.selectors", pft_arena_copy(arena, session->selectors, selectors_bytes));
	count = add_text(list, count, "pftshim.command_line", pft_attributes_cmdline(session, arena));
	count = add_origin(list, count, session, arena);
	if (session->probe_inside_ns) {
		count = add_number(list, count, "pftshim.probe_inside_ns", session->probe_inside_ns);
		count = add_number(list, count, "pftshim.probe_outside_ns", session->probe_outside_ns);
	}
	if (session->segment_bytes)
		count = add_number(list, count, "pftshim.segment", session->segments.number);
	if (!totals)
		return count;
	count = add_number(list, count, "pftshim.produced", totals->produced);
	count = add_number(list, count, "pftshim.written", totals->written);
	count = add_number(list, count, "pftshim.filtered", totals->filtered);
	count = add_number(list, count, "pftshim.dropped", totals->dropped);
	count = add_number(list, count, "pftshim.duration_ns", duration_ns);
	if (session->peak_rss_bytes)
		count = add_usage(list, count, session);
	if (session->frames_max)
		count = add_number(list, count, "pftshim.stacks_cut", session->stacks_cut);
	return session->segment_bytes ? add_segment(list, count, &session->segments, totals) : count;
}
