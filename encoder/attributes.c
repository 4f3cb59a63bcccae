// SPDX-License-Identifier: MIT
// Facts of a trace: see attributes.h. Flusher context. The rule: a field of the session may fill its room
// without an end.
#include "encoder/attributes.h"

#include <string.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "encoder/version.h"

size_t pft_attributes_cmdline_bytes(const struct pft_session *session)
{
	size_t size = session->cmdline_bytes;

	return size < sizeof session->cmdline ? size : sizeof session->cmdline;
}

const char *pft_attributes_process(const struct pft_session *session, struct pft_arena *arena)
{
	const char *path =
		pft_arena_copy(arena, session->process, strnlen(session->process, sizeof session->process));
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

// The arguments with blanks between them.
static const char *joined_cmdline(const struct pft_session *session, struct pft_arena *arena)
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

size_t pft_attributes_list(struct pft_attribute list[PFT_ATTRIBUTES_MAX], const struct pft_session *session,
	const struct pft_totals *totals, struct pft_arena *arena)
{
	size_t selectors_bytes = strnlen(session->selectors, sizeof session->selectors);
	size_t count = 0;

	count = add_text(list, count, "pftshim.version", PFT_VERSION);
	count = add_text(list, count, "pftshim.mode", session->mode == PFT_MODE_DEV ? "dev" : "user");
	count = add_text(
		list, count, "pftshim.selectors", pft_arena_copy(arena, session->selectors, selectors_bytes));
	count = add_text(list, count, "pftshim.command_line", joined_cmdline(session, arena));
	if (!totals)
		return count;
	count = add_number(list, count, "pftshim.produced", totals->produced);
	count = add_number(list, count, "pftshim.written", totals->written);
	count = add_number(list, count, "pftshim.filtered", totals->filtered);
	count = add_number(list, count, "pftshim.dropped", totals->dropped);
	if (session->frames_max)
		count = add_number(list, count, "pftshim.stacks_cut", session->stacks_cut);
	return count;
}
