// SPDX-License-Identifier: MIT
// Takes names apart, from their ends: see names.h.
#include "encoder/executions/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/base/segment.h"
#include "encoder/recover/paths.h"

// Shortens the name by an ending that something stands before.
static bool take_ending(const char *name, size_t *length, const char *ending)
{
	size_t size = strlen(ending);

	if (*length <= size || memcmp(name + *length - size, ending, size) != 0)
		return false;
	*length -= size;
	return true;
}

static unsigned take_part(const char *name, size_t *length)
{
	size_t digits = *length;
	size_t before;

	while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	before = digits;
	if (digits == *length || *length - digits > 9 || !take_ending(name, &before, PFT_SEGMENT_NAME))
		return 1;
	*length = before;
	return (unsigned)strtoul(name + digits, NULL, 10);
}

static bool take_report(const char *name, size_t *length)
{
	static const char *const endings[] = {
		".report.txt", ".report.json", ".report.trace.json", ".report.folded"};

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
		if (take_ending(name, length, endings[i]))
			return true;
	return false;
}

struct pft_name pft_name_of(const char *name)
{
	struct pft_name found = {.process_length = strlen(name), .part = 1};
	size_t *length = &found.process_length;

	if (take_ending(name, length, PFT_LINK_ENDING))
		found.kind = PFT_NAME_SESSION;
	else if (take_ending(name, length, PFT_TRACE_ENDING))
		found.kind = PFT_NAME_TRACE;
	else if (take_report(name, length))
		found.kind = PFT_NAME_REPORT;
	else if (take_ending(name, length, ".json"))
		found.kind = PFT_NAME_JSON;
	if (found.kind == PFT_NAME_OTHER || name[0] == '.')
		return (struct pft_name){.kind = PFT_NAME_OTHER};
	if (found.kind == PFT_NAME_TRACE || found.kind == PFT_NAME_JSON)
		found.part = take_part(name, length);
	return found;
}
