// SPDX-License-Identifier: MIT
// Reads the loaded ELF objects out of the loader's list. Called at startup, and when objects were opened.
// The rule: memory is believed only after it was found to be there. An object whose ELF header is not where
// it is expected is listed by name, with an empty range and no tables, and so left alone.
#include "shim/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/settings.h"

#define PAGE_BYTES 4096
// How far below its dynamic section the start of an object is looked for, a system call a page.
#define SEARCH_PAGES 65536

struct headers {
	const Elf64_Phdr *first;
	size_t count;
};

static bool inside(uintptr_t address, uintptr_t low, uintptr_t high)
{
	return address >= low && address < high;
}

static uintptr_t page_of(uintptr_t address)
{
	return address & -(uintptr_t)PAGE_BYTES;
}

// ---- program headers --------------------------------------------------------------------------------

// Whether 8 bytes at `address` can be read. The kernel copies the set before it looks at the first argument,
// so an impossible one tells EFAULT from EINVAL and changes nothing. No set at all would be fine with it.
static bool readable(uintptr_t address)
{
	return address && pft_sys4(SYS_rt_sigprocmask, -1, address, NULL, 8) != -EFAULT;
}

// The program headers say where the dynamic section is, and the loader says it too: they must agree.
static const Elf64_Phdr *headers_dynamic(struct headers headers, const struct link_map *map)
{
	for (const Elf64_Phdr *header = headers.first; header < headers.first + headers.count; header++)
		if (header->p_type == PT_DYNAMIC && map->l_addr + header->p_vaddr == (uintptr_t)map->l_ld)
			return header;
	return NULL;
}

static struct headers headers_at(uintptr_t start, const struct link_map *map)
{
	const Elf64_Ehdr *elf = (const void *)start;
	struct headers headers;

	if (!readable(start) || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0)
		return (struct headers){0};
	headers.first = (const void *)(start + elf->e_phoff);
	headers.count = elf->e_phnum;
	if (!readable((uintptr_t)headers.first) || !readable((uintptr_t)(headers.first + headers.count) - 8))
		return (struct headers){0};
	return headers_dynamic(headers, map) ? headers : (struct headers){0};
}

// An object that is linked at 0, which is every shared object that linkers make by default, starts at its
// bias. Others start somewhere below their dynamic section.
static struct headers headers_of_library(const struct link_map *map)
{
	struct headers headers = headers_at(map->l_addr, map);
	uintptr_t page = page_of((uintptr_t)map->l_ld);

	for (size_t i = 0; i < SEARCH_PAGES && page && !headers.first; i++, page -= PAGE_BYTES)
		headers = headers_at(page, map);
	return headers;
}

// The main program may be linked anywhere; its headers are where the kernel put them (or the loader, which
// corrects AT_PHDR when it was started as a command).
static struct headers headers_of(const struct link_map *map, bool program)
{
	if (program)
		return (struct headers){(const void *)getauxval(AT_PHDR), getauxval(AT_PHNUM)};
	return headers_of_library(map);
}

static void read_segment(struct pft_object *object, const Elf64_Phdr *header)
{
	uintptr_t start = object->bias + header->p_vaddr, end = start + header->p_memsz;

	if (header->p_type == PT_LOAD) {
		if (object->high == 0 || start < object->low)
			object->low = start;
		if (end > object->high)
			object->high = end;
	} else if (header->p_type == PT_GNU_RELRO && page_of(end) > page_of(start)) {
		// Both ends are rounded down, as the loader does.
		object->relro = page_of(start);
		object->relro_end = page_of(end);
	}
}

// ---- dynamic section --------------------------------------------------------------------------------

// The loader adds the bias to some of the pointers, in place, and to none where the section is read-only
// (vDSO). A table of ours, put there by an earlier change, lies outside of the object and is meant as it is.
static const void *table_at(const struct pft_object *object, uintptr_t value)
{
	if (!inside(value, object->low, object->high) &&
		inside(object->bias + value, object->low, object->high))
		value += object->bias;
	return (const void *)value;
}

static void read_entry(struct pft_object *object, Elf64_Dyn *entry)
{
	const void *table = table_at(object, entry->d_un.d_ptr);

	switch (entry->d_tag) {
	case DT_SYMTAB:
		object->symbols = table;
		break;
	case DT_STRTAB:
		object->strings = table;
		break;
	case DT_VERSYM:
		object->versions = table;
		break;
	case DT_VERDEF:
		object->version_definitions = table;
		break;
	case DT_VERNEED:
		object->version_needs = table;
		break;
	case DT_GNU_HASH:
		object->gnu_hash = table;
		break;
	case DT_HASH:
		object->sysv_hash = table;
		break;
	case DT_JMPREL:
		object->jumps = table;
		object->jump_entry = entry;
		break;
	case DT_PLTRELSZ:
		object->jump_count = entry->d_un.d_val / sizeof(Elf64_Rela);
		break;
	case DT_RELA:
		object->relocations = table;
		break;
	case DT_RELASZ:
		object->relocation_count = entry->d_un.d_val / sizeof(Elf64_Rela);
		break;
	case DT_RELACOUNT:
		object->relative_count = entry->d_un.d_val;
		break;
	case DT_BIND_NOW:
		object->bind_now = true;
		break;
	case DT_FLAGS:
		object->bind_now |= (entry->d_un.d_val & DF_BIND_NOW) != 0;
		break;
	case DT_FLAGS_1:
		object->bind_now |= (entry->d_un.d_val & DF_1_NOW) != 0;
		break;
	}
}

static void read_tables(struct pft_object *object, const Elf64_Phdr *dynamic)
{
	for (Elf64_Dyn *entry = object->dynamic; entry->d_tag != DT_NULL; entry++)
		read_entry(object, entry);
	if (!(dynamic->p_flags & PF_W))
		object->jump_entry = NULL;
}

// ---- the list ---------------------------------------------------------------------------------------

// The loader knows the program by no name. /proc/self/exe is the loader itself when that was started as a
// command: then the kernel gave it no base, and it has put the program's name at AT_EXECFN.
static const char *program_path(struct pft_arena *arena)
{
	char path[PATH_MAX];
	long length = pft_sys4(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path));

	if (length <= 0 || getauxval(AT_BASE) == 0) {
		const char *name = (const char *)getauxval(AT_EXECFN);

		return name ? name : "";
	}
	return pft_arena_copy(arena, path, (size_t)length);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_object(struct pft_object *object, const struct link_map *map)
{
	struct headers headers = headers_of(map, object->program);
	const Elf64_Phdr *dynamic = headers_dynamic(headers, map);

	object->map = map;
	object->bias = map->l_addr;
	object->dynamic = map->l_ld;
	object->name = last_part(object->path);
	if (!dynamic)
		return;
	object->headers = headers.first;
	object->header_count = headers.count;
	for (size_t i = 0; i < headers.count; i++)
		read_segment(object, headers.first + i);
	read_tables(object, dynamic);
	object->loader = inside(_r_debug.r_brk, object->low, object->high);
	object->vdso = inside(getauxval(AT_SYSINFO_EHDR), object->low, object->high);
	object->self = inside((uintptr_t)pft_objects_scan, object->low, object->high);
}

void pft_object_read(struct pft_object *object, const struct link_map *map, bool bind_now)
{
	*object = (struct pft_object){.path = map->l_name, .bind_now = bind_now};
	read_object(object, map);
}

static size_t count_maps(void)
{
	size_t count = 0;

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		count++;
	return count;
}

// As the loader reads it: set and not empty.
static bool bound_at_start(char *const *environment)
{
	const char *value = environment ? pft_environment_get(environment, "LD_BIND_NOW") : NULL;

	return value && *value;
}

int pft_objects_scan(struct pft_objects *objects, struct pft_arena *arena, char *const *environment)
{
	struct pft_object *object;

	objects->bind_now = bound_at_start(environment);
	objects->count = count_maps();
	objects->all = object = pft_arena_alloc(arena, objects->count * sizeof(*object));
	if (!object)
		return -ENOMEM;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next, object++) {
		object->program = map == _r_debug.r_map;
		object->path = object->program ? program_path(arena) : map->l_name;
		if (!object->path)
			return -ENOMEM;
		object->bind_now = objects->bind_now;
		read_object(object, map);
	}
	return 0;
}

const struct pft_object *pft_objects_at(const struct pft_objects *objects, uintptr_t address)
{
	for (size_t i = 0; i < objects->count; i++)
		if (inside(address, objects->all[i].low, objects->all[i].high))
			return &objects->all[i];
	return NULL;
}

// ---- namespaces -------------------------------------------------------------------------------------

// A program that names _r_debug has a copy of it, as it was at its start, and the copy's name is ours as
// well. The loader's own is where it tells debuggers to look.
const struct r_debug *pft_objects_base(const struct pft_objects *objects)
{
	const Elf64_Dyn *entry = objects->all[0].dynamic;

	while (entry->d_tag != DT_NULL && entry->d_tag != DT_DEBUG)
		entry++;
	return entry->d_tag == DT_DEBUG && entry->d_un.d_ptr ? (const void *)entry->d_un.d_ptr : &_r_debug;
}

const struct r_debug *pft_objects_next_space(const struct r_debug *space)
{
	const int first_with_next = 2;
	const struct r_debug_extended *extended = (const void *)space;

	return space->r_version >= first_with_next ? (const void *)extended->r_next : NULL;
}
