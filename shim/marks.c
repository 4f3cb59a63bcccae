// SPDX-License-Identifier: MIT
// Marking hooks: see marks.h. The rule: an id is marked when it is named, and keeps its name and its mark.
#include "shim/marks.h"

#include <errno.h>
#include <stddef.h>

#include "shim/hot/window.h"
#include "shim/select.h"

static const struct pft_selection *starts, *stops, *triggers; // NULL: no function

// NULL as well when there is nothing to parse.
static int parse(const struct pft_selection **selection, const char *text, struct pft_arena *arena)
{
	*selection = text ? pft_selection_parse(text, arena) : NULL;
	return text && !*selection ? -EINVAL : 0;
}

int pft_marks_start(const struct pft_settings *settings, struct pft_arena *arena)
{
	int error = parse(&starts, settings->start_function, arena);

	if (!error)
		error = parse(&stops, settings->stop_function, arena);
	return error ? error : parse(&triggers, settings->trigger_functions, arena);
}

static bool names(const struct pft_selection *selection, const char *symbol, const char *object)
{
	return selection && pft_selection_match(selection, symbol, object) == PFT_SELECTED;
}

void pft_marks_set(uint32_t id, const char *symbol, const char *object)
{
	pft_window_marks[id] = (names(starts, symbol, object) ? PFT_MARK_START : 0) |
			       (names(stops, symbol, object) ? PFT_MARK_STOP : 0) |
			       (names(triggers, symbol, object) ? PFT_MARK_TRIGGER : 0);
}
