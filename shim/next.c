// SPDX-License-Identifier: MIT
// Looking up what our functions stand before. Startup, or app context before it; see next.h.
#include "shim/next.h"

#include "encoder/base/arena.h"

#define NAME(name) #name,
static const char *const names[] = {PFT_INTERPOSED(NAME)};
static void *functions[PFT_NEXT_COUNT];

static size_t own_place(const struct pft_objects *objects)
{
	size_t i = 0;

	while (i < objects->count && !objects->all[i].self)
		i++;
	return i;
}

static void *find(const struct pft_objects *objects, const char *name)
{
	for (size_t i = own_place(objects) + 1; i < objects->count; i++) {
		const struct pft_object *object = &objects->all[i];
		const Elf64_Sym *symbol = object->vdso ? NULL : pft_object_symbol(object, name);

		if (symbol)
			return (void *)(object->bias + symbol->st_value);
	}
	return NULL;
}

void pft_next_start(const struct pft_objects *objects)
{
	for (unsigned i = 0; i < PFT_NEXT_COUNT; i++)
		functions[i] = find(objects, names[i]);
}

void *pft_next(enum pft_next number)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_objects objects;

	if (!functions[PFT_NEXT_fork]) {
		if (pft_objects_scan(&objects, &arena, NULL) == 0)
			pft_next_start(&objects);
		pft_arena_free(&arena);
	}
	return functions[number];
}
