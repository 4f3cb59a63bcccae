// SPDX-License-Identifier: MIT
// The ELF objects that are loaded: their names, ranges, symbols and the relocations that fill their PLT
// slots, as the loader left them in memory. Startup context; later the caller holds the loader's lock, or
// the list may change under it. Reads memory only; opens no file, calls no loader function that could take
// the loader's lock.
#ifndef PFT_OBJECTS_H
#define PFT_OBJECTS_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"

struct pft_object {
	const struct link_map *map; // the loader's entry
	const char *path; // as the loader has it; the program's own is its real path
	const char *name; // last part of the path: what `object::function` and `@object` mean
	uintptr_t bias; // add to an address in the file
	uintptr_t low, high; // of the loaded segments
	uintptr_t relro, relro_end; // page-rounded; equal when there is none
	const Elf64_Phdr *headers; // program headers; none where they could not be found
	size_t header_count;
	Elf64_Dyn *dynamic;
	const Elf64_Sym *symbols;
	const char *strings;
	const Elf64_Half *versions; // DT_VERSYM, or NULL
	const Elf64_Verdef *version_definitions; // DT_VERDEF, or NULL
	const Elf64_Verneed *version_needs; // DT_VERNEED, or NULL
	const uint32_t *gnu_hash, *sysv_hash; // either may be NULL
	Elf64_Dyn *jump_entry; // the DT_JMPREL entry of the dynamic section; NULL when it may not be written
	const Elf64_Rela *jumps; // what it points to
	size_t jump_count;
	const Elf64_Rela *relocations; // DT_RELA
	size_t relocation_count;
	size_t relative_count; // so many of the first of them name no symbol (DT_RELACOUNT)
	bool bind_now; // the loader has bound all slots (DF_BIND_NOW, DF_1_NOW, LD_BIND_NOW)
	bool program; // the main program
	bool loader, vdso, self; // ld.so, the kernel's object, ourselves
};

struct pft_objects {
	struct pft_object *all; // in the loader's order, which is the order of the global scope
	size_t count;
	bool bind_now; // LD_BIND_NOW is set
};

// Lists what is loaded now (_r_debug, base namespace). 0 or -ENOMEM. `environment` is looked at for
// LD_BIND_NOW.
int pft_objects_scan(struct pft_objects *objects, struct pft_arena *arena, char *const *environment);

// Reads one object that is not the program. `bind_now` as in the list.
void pft_object_read(struct pft_object *object, const struct link_map *map, bool bind_now);

// The loader's list of the base namespace, then, one after the other, those that dlmopen made (which glibc
// shows since 2.35). NULL behind the last.
const struct r_debug *pft_objects_base(const struct pft_objects *objects);
const struct r_debug *pft_objects_next_space(const struct r_debug *space);

// The object whose segments hold `address`, or NULL.
const struct pft_object *pft_objects_at(const struct pft_objects *objects, uintptr_t address);

// The symbol that defines `name` in the object, or NULL. Undefined and local ones are not found.
const Elf64_Sym *pft_object_symbol(const struct pft_object *object, const char *name);

// The first object of the global scope that defines `name`, or NULL: where the loader will most likely
// bind it (versions, DEEPBIND and private scopes may lead elsewhere; the slot's own value is the truth). We
// ourselves are passed over.
const struct pft_object *pft_objects_defining(const struct pft_objects *objects, const char *name);

// The version that symbol `index` is defined under or asks for, or NULL.
const char *pft_object_version(const struct pft_object *object, size_t index);

// Name of the function whose symbol covers `address`, or NULL.
const char *pft_object_function_at(const struct pft_object *object, uintptr_t address);

#endif
