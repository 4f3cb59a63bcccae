// SPDX-License-Identifier: MIT
// The next definition of a function that we interpose. App context; see next.h.
#include "shim/next.h"

#include "encoder/base/arena.h"
#include "shim/objects.h"

static size_t own_place(const struct pft_objects *objects)
{
	size_t i = 0;

	while (i < objects->count && !objects->all[i].self)
		i++;
	return i;
}

void *pft_next_function(const char *name)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_objects objects;
	void *found = NULL;

	if (pft_objects_scan(&objects, &arena, NULL) == 0) {
		for (size_t i = own_place(&objects) + 1; i < objects.count && !found; i++) {
			const struct pft_object *object = &objects.all[i];
			const Elf64_Sym *symbol = object->vdso ? NULL : pft_object_symbol(object, name);

			if (symbol)
				found = (void *)(object->bias + symbol->st_value);
		}
	}
	pft_arena_free(&arena);
	return found;
}
