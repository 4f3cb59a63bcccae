// SPDX-License-Identifier: MIT
// Names of hooks: see names.h. Flusher context.
#include "encoder/names.h"

#include <stdbool.h>
#include <string.h>

#include "encoder/array.h"
#include "encoder/base/text.h"
#include "encoder/demangle.h"
#include "encoder/session.h"
#include "encoder/utf8.h"

// What a hook was shown as, and the strings of the session that this was made from: the flusher may fill in
// a hook's object after its first use.
struct pft_names_hook {
	uint32_t symbol, object;
	struct pft_shown shown;
};

// ---- hooks ------------------------------------------------------------------------------------------

// Joins the parts and makes valid UTF-8 of them. The scratch memory is given back by pft_names_show.
static uint32_t number_of_joined(
	struct pft_names *names, const char *object, const char *separator, const char *function)
{
	size_t size = strlen(object) + strlen(separator) + strlen(function) + 1;
	char *raw = pft_arena_alloc(names->scratch, size);
	char *clean = pft_arena_alloc(names->scratch, PFT_NAME_BYTES_MAX + 1);
	struct pft_text text;

	if (!raw || !clean)
		return 0;
	text = pft_text_in(raw, size);
	pft_text_add(&text, object);
	pft_text_add(&text, separator);
	pft_text_add(&text, function);
	pft_utf8_clean(clean, PFT_NAME_BYTES_MAX + 1, raw);
	return pft_strings_number(&names->strings, clean);
}

static struct pft_shown show_own(struct pft_names *names, uint32_t id)
{
	const char *name = id == PFT_HOOK_WAIT ? "pftshim: ring full" : "pftshim: unknown";

	return (struct pft_shown){.name = pft_strings_number(&names->strings, name),
		.category = pft_strings_number(&names->strings, "pftshim")};
}

static struct pft_shown show_hook(struct pft_names *names, const struct pft_session_hook *hook)
{
	const char *symbol = pft_session_string(names->session, hook->symbol);
	const char *object = pft_session_string(names->session, hook->object);
	const char *demangled = pft_demangle(symbol, 0, names->scratch);
	const char *function = demangled ? demangled : *symbol ? symbol : "(unnamed)";

	if (names->session->mode != 2 || !*object)
		return (struct pft_shown){.name = number_of_joined(names, "", "", function)};
	return (struct pft_shown){.name = number_of_joined(names, object, "::", function),
		.category = number_of_joined(names, object, "", "")};
}

// The place where hook `id` is remembered, or NULL when out of memory.
static struct pft_names_hook *remembered(struct pft_names *names, uint32_t id)
{
	if (id >= names->hooks_room) {
		void *grown = pft_array_grow(
			names->strings.memory, names->hooks, &names->hooks_room, id, sizeof *names->hooks);

		if (!grown)
			return NULL;
		names->hooks = grown;
	}
	return &names->hooks[id];
}

struct pft_shown pft_names_show(struct pft_names *names, uint32_t id)
{
	// Pairs with the store that publishes a whole entry.
	uint32_t hooks = __atomic_load_n(&names->session->hooks, __ATOMIC_ACQUIRE);
	struct pft_arena_mark mark = pft_arena_mark(names->scratch);
	struct pft_names_hook *known;
	struct pft_session_hook hook;

	if (id < PFT_HOOK_FIRST || id >= hooks)
		return show_own(names, id);
	known = remembered(names, id);
	if (!known)
		return (struct pft_shown){0};
	hook = *pft_session_hook(names->session, id);
	if (!known->shown.name || known->symbol != hook.symbol || known->object != hook.object) {
		*known = (struct pft_names_hook){hook.symbol, hook.object, show_hook(names, &hook)};
		pft_arena_release(names->scratch, mark);
	}
	return known->shown;
}
