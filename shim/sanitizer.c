// SPDX-License-Identifier: MIT
// Our name in the loader's list, while a sanitizer looks at it: see sanitizer.h. The rule: in a program
// without such a runtime one walk over names is all that happens.
#include "shim/sanitizer.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "shim/objects.h"

static struct {
	struct pft_objects objects;
	struct link_map *entry; // ours; NULL when its name is in place
	char *name;
} unnamed;

static bool is_runtime(const char *path)
{
	static const char gcc[] = "libasan.so", llvm[] = "libclang_rt.asan";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strncmp(name, gcc, sizeof(gcc) - 1) == 0 || strncmp(name, llvm, sizeof(llvm) - 1) == 0;
}

static struct link_map *own_entry(void)
{
	struct link_map *entry = _r_debug.r_map;

	while (entry && entry->l_ld != _DYNAMIC)
		entry = entry->l_next;
	return entry;
}

static bool runtime_comes_after(const struct link_map *entry)
{
	while (entry && !is_runtime(entry->l_name))
		entry = entry->l_next;
	return entry;
}

void pft_sanitizer_let_first(void)
{
	static struct pft_arena arena; // the list of objects stays in use
	static char none[] = "";
	struct link_map *entry = own_entry();

	if (!runtime_comes_after(entry) || pft_objects_scan(&unnamed.objects, &arena, NULL) < 0)
		return;
	unnamed.entry = entry;
	unnamed.name = entry->l_name;
	entry->l_name = none;
}

void pft_sanitizer_initialise(uintptr_t address)
{
	const struct pft_object *object;

	if (!unnamed.entry)
		return;
	object = pft_objects_at(&unnamed.objects, address);
	if (!object || !object->program)
		return;
	unnamed.entry->l_name = unnamed.name;
	unnamed.entry = NULL;
}
