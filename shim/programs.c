// SPDX-License-Identifier: MIT
// The list of programs: see programs.h. Startup context. The rule: what was valid matches without fault, so
// both read the list through the same step.
#include "shim/programs.h"

#include "encoder/base/text.h"
#include "shim/glob.h"

struct entry {
	bool excludes;
	bool cut; // longer than any program's name
	char glob[1024];
};

static const char *skip_separators(const char *at)
{
	while (*at == ',' || *at == ' ' || *at == '\t' || *at == '\n')
		at++;
	return at;
}

static const char *entry_end(const char *at)
{
	while (*at && *at != ',' && *at != '\n')
		at++;
	return at;
}

// Takes the next entry off the list. False when there is none.
static bool next(const char **list, struct entry *entry)
{
	struct pft_text text = pft_text_in(entry->glob, sizeof(entry->glob));
	const char *start = skip_separators(*list);
	const char *end = entry_end(start);

	*list = end;
	entry->excludes = *start == '-';
	start += entry->excludes;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	pft_text_add_bytes(&text, start, (size_t)(end - start));
	entry->cut = text.cut;
	return entry->excludes || end > start;
}

bool pft_programs_valid(const char *list)
{
	struct entry entry;
	unsigned count = 0;

	for (; next(&list, &entry); count++)
		if (entry.cut || !entry.glob[0] || pft_glob_error(entry.glob))
			return false;
	return count != 0;
}

bool pft_programs_select(const char *list, const char *program)
{
	struct entry entry;
	bool selected = *skip_separators(list) == '-';

	while (next(&list, &entry))
		if (pft_glob_match(entry.glob, program))
			selected = !entry.excludes;
	return selected;
}
