// SPDX-License-Identifier: MIT
// Strings by number: see strings.h. Flusher context. The rule: there are twice as many buckets as strings, so
// that a search ends soon.
#include "encoder/strings.h"

#include <stdbool.h>
#include <string.h>

#include "encoder/array.h"

// FNV-1a, 32 bits.
static uint32_t hash(const char *text)
{
	uint32_t value = 2166136261u;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 16777619u;
	return value;
}

// The bucket that holds `text`, or the empty one where it belongs.
static uint32_t *bucket(const struct pft_strings *strings, const char *text)
{
	uint32_t mask = strings->buckets_room - 1;
	uint32_t place = hash(text) & mask;

	while (strings->buckets[place] && strcmp(strings->texts[strings->buckets[place]], text) != 0)
		place = (place + 1) & mask;
	return &strings->buckets[place];
}

static bool make_room(struct pft_strings *strings)
{
	uint32_t room = strings->room;
	const char **texts =
		pft_array_grow(strings->memory, strings->texts, &room, strings->used + 1, sizeof *texts);
	uint32_t *buckets = pft_arena_alloc(strings->memory, (size_t)2 * room * sizeof *buckets);

	if (!texts || !buckets)
		return false;
	strings->texts = texts;
	strings->room = room;
	strings->buckets = buckets;
	strings->buckets_room = 2 * room;
	for (uint32_t number = 1; number <= strings->used; number++)
		*bucket(strings, texts[number]) = number;
	return true;
}

static uint32_t add(struct pft_strings *strings, const char *text)
{
	char *copy = pft_arena_copy(strings->memory, text, strlen(text));

	if (!copy)
		return 0;
	strings->texts[++strings->used] = copy;
	return strings->used;
}

uint32_t pft_strings_number(struct pft_strings *strings, const char *text)
{
	uint32_t *found;

	if (strings->used + 1 >= strings->room && !make_room(strings))
		return 0;
	found = bucket(strings, text);
	if (!*found)
		*found = add(strings, text);
	return *found;
}

const char *pft_strings_text(const struct pft_strings *strings, uint32_t number)
{
	return number ? strings->texts[number] : NULL;
}
