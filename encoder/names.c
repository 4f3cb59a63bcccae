// SPDX-License-Identifier: MIT
// Names of hooks and the strings of a trace: see names.h. Flusher context.
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

// ---- strings ----------------------------------------------------------------------------------------

// FNV-1a, 32 bits.
static uint32_t hash(const char *text)
{
	uint32_t value = 2166136261u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	return value;
}

// The bucket that holds `text`, or the empty one where it belongs.
static uint32_t *bucket(const struct pft_names *names, const char *text)
{
	uint32_t mask = names->buckets_room - 1;
	uint32_t place = hash(text) & mask;

	while (names->buckets[place] && strcmp(names->strings[names->buckets[place]], text) != 0)
		place = (place + 1) & mask;
	return &names->buckets[place];
}

// Twice as many buckets as strings, so that a search ends soon.
static bool make_room(struct pft_names *names)
{
	uint32_t room = names->strings_room;
	const char **strings = pft_array_grow(
		names->memory, names->strings, &room, names->strings_used + 1, sizeof *strings);
	uint32_t *buckets = pft_arena_alloc(names->memory, (size_t)2 * room * sizeof *buckets);

	if (!strings || !buckets)
		return false;
	names->strings = strings;
	names->strings_room = room;
	names->buckets = buckets;
	names->buckets_room = 2 * room;
	for (uint32_t number = 1; number <= names->strings_used; number++)
		*bucket(names, strings[number]) = number;
	return true;
}

// The number of a new string: a copy of `text`. 0 when out of memory.
static uint32_t add_string(struct pft_names *names, const char *text)
{
	char *copy = pft_arena_copy(names->memory, text, strlen(text));

	if (!copy)
		return 0;
	names->strings[++names->strings_used] = copy;
	return names->strings_used;
}

// The number of `text`, which is added when it is new. 0 when out of memory.
static uint32_t number_of(struct pft_names *names, const char *text)
{
	uint32_t *found;

	if (names->strings_used + 1 >= names->strings_room && !make_room(names))
		return 0;
	found = bucket(names, text);
	if (!*found)
		*found = add_string(names, text);
	return *found;
}

const char *pft_names_text(const struct pft_names *names, uint32_t number)
{
	return number ? names->strings[number] : NULL;
}

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
	return number_of(names, clean);
}

static struct pft_shown show_own(struct pft_names *names, uint32_t id)
{
	const char *name = id == PFT_HOOK_WAIT ? "pftshim: ring full" : "pftshim: unknown";

	return (struct pft_shown){.name = number_of(names, name), .category = number_of(names, "pftshim")};
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
			names->memory, names->hooks, &names->hooks_room, id, sizeof *names->hooks);

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
