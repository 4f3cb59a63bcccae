// SPDX-License-Identifier: MIT
// The symbol half of objects.h: from a name to the symbol that defines it, and from an address to a name.
// Called at startup; pure, reads the objects' tables as the loader mapped them.
// The rule: the hash tables decide what is exported. Nothing else tells a symbol table's length.
#include <string.h>

#include "shim/objects.h"

// DT_VERSYM (gABI extension by Sun, as in the LSB): the top bit marks a version that only those who ask for
// it by name are bound to; index 0 is local and 1 has no version.
#define VERSION_HIDDEN 0x8000
#define VERSION_INDEX 0x7fff
#define VERSION_FIRST 2

// DT_GNU_HASH. A bloom filter of machine words, the buckets, and the chains follow.
struct gnu_table {
	uint32_t bucket_count;
	uint32_t first_symbol; // those before it are not in the table
	uint32_t bloom_count; // a power of two
	uint32_t bloom_shift;
	Elf64_Addr bloom[];
};

static const uint32_t *gnu_buckets(const struct gnu_table *table)
{
	return (const void *)(table->bloom + table->bloom_count);
}

// Indexed by symbol: a hash each, whose lowest bit says that its bucket ends here.
static const uint32_t *gnu_chains(const struct gnu_table *table)
{
	return gnu_buckets(table) + table->bucket_count;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

// gABI, "Hash Table".
static uint32_t sysv_hash(const char *name)
{
	uint32_t hash = 0;

	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	return hash;
}

static bool names_place(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info), binding = ELF64_ST_BIND(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE || type == STT_OBJECT) &&
	       (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE);
}

// Keeps symbol `index` in `found` when it defines `name`. True when no better one can come: a name may be
// defined under several versions, and the one that is not hidden is what an unversioned lookup means.
static bool take(const struct pft_object *object, size_t index, const char *name, const Elf64_Sym **found)
{
	const Elf64_Sym *symbol = object->symbols + index;
	bool hidden = object->versions && object->versions[index] & VERSION_HIDDEN;

	if (!names_place(symbol) || strcmp(object->strings + symbol->st_name, name) != 0)
		return false;
	if (!hidden || !*found)
		*found = symbol;
	return !hidden;
}

static const Elf64_Sym *find_by_gnu(const struct pft_object *object, const char *name, uint32_t hash)
{
	const struct gnu_table *table = (const void *)object->gnu_hash;
	Elf64_Addr word = table->bloom[hash / 64 & (table->bloom_count - 1)];
	const Elf64_Sym *found = NULL;
	uint32_t index, link;

	if (!(word >> hash % 64 & word >> (hash >> table->bloom_shift) % 64 & 1))
		return NULL;
	index = gnu_buckets(table)[hash % table->bucket_count];
	if (index < table->first_symbol)
		return NULL;
	do {
		link = gnu_chains(table)[index - table->first_symbol];
		if ((link | 1) == (hash | 1) && take(object, index, name, &found))
			break;
		index++;
	} while (!(link & 1));
	return found;
}

// DT_HASH: the number of buckets, the number of symbols, the buckets, the chains.
static const Elf64_Sym *find_by_sysv(const struct pft_object *object, const char *name)
{
	const uint32_t *table = object->sysv_hash, *buckets = table + 2, *chains = buckets + table[0];
	const Elf64_Sym *found = NULL;

	for (uint32_t index = buckets[sysv_hash(name) % table[0]]; index; index = chains[index])
		if (take(object, index, name, &found))
			break;
	return found;
}

static const Elf64_Sym *find(const struct pft_object *object, const char *name, uint32_t hash)
{
	if (object->gnu_hash)
		return find_by_gnu(object, name, hash);
	return object->sysv_hash ? find_by_sysv(object, name) : NULL;
}

const Elf64_Sym *pft_object_symbol(const struct pft_object *object, const char *name)
{
	return find(object, name, gnu_hash(name));
}

const struct pft_object *pft_objects_defining(const struct pft_objects *objects, const char *name)
{
	uint32_t hash = gnu_hash(name);

	// The vDSO is in the loader's list, but in nobody's scope; what we interpose stands for what lies
	// behind.
	for (size_t i = 0; i < objects->count; i++)
		if (!objects->all[i].vdso && !objects->all[i].self && find(&objects->all[i], name, hash))
			return &objects->all[i];
	return NULL;
}

// ---- versions ---------------------------------------------------------------------------------------

static const char *defined_version(const struct pft_object *object, unsigned wanted)
{
	const Elf64_Verdef *entry = object->version_definitions;

	while (entry) {
		if (entry->vd_ndx == wanted) {
			const Elf64_Verdaux *own_name = (const void *)((const char *)entry + entry->vd_aux);

			return object->strings + own_name->vda_name;
		}
		entry = entry->vd_next ? (const void *)((const char *)entry + entry->vd_next) : NULL;
	}
	return NULL;
}

static const char *version_from(const struct pft_object *object, const Elf64_Verneed *need, unsigned wanted)
{
	const Elf64_Vernaux *entry = (const void *)((const char *)need + need->vn_aux);

	for (unsigned left = need->vn_cnt; left; left--) {
		if (entry->vna_other == wanted)
			return object->strings + entry->vna_name;
		entry = (const void *)((const char *)entry + entry->vna_next);
	}
	return NULL;
}

static const char *needed_version(const struct pft_object *object, unsigned wanted)
{
	const Elf64_Verneed *need = object->version_needs;

	while (need) {
		const char *version = version_from(object, need, wanted);

		if (version)
			return version;
		need = need->vn_next ? (const void *)((const char *)need + need->vn_next) : NULL;
	}
	return NULL;
}

const char *pft_object_version(const struct pft_object *object, size_t index)
{
	unsigned wanted = object->versions ? object->versions[index] & VERSION_INDEX : 0;
	const char *version;

	if (wanted < VERSION_FIRST)
		return NULL;
	version = needed_version(object, wanted);
	return version ? version : defined_version(object, wanted);
}

// ---- from an address to a name ----------------------------------------------------------------------

// One more than the last symbol that a bucket leads to. Undefined symbols stand before the first.
static size_t gnu_symbol_count(const struct gnu_table *table)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < table->bucket_count; i++)
		if (gnu_buckets(table)[i] > last)
			last = gnu_buckets(table)[i];
	if (last < table->first_symbol)
		return table->first_symbol;
	while (!(gnu_chains(table)[last - table->first_symbol] & 1))
		last++;
	return last + 1;
}

static size_t symbol_count(const struct pft_object *object)
{
	if (object->sysv_hash)
		return object->sysv_hash[1];
	return object->gnu_hash ? gnu_symbol_count((const void *)object->gnu_hash) : 0;
}

// A function without a size, as assembly leaves it, covers its first byte.
static bool covers(const Elf64_Sym *symbol, uintptr_t file_address)
{
	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       (file_address - symbol->st_value < symbol->st_size || file_address == symbol->st_value);
}

const char *pft_object_function_at(const struct pft_object *object, uintptr_t address)
{
	size_t count = symbol_count(object);

	for (size_t i = 0; i < count; i++)
		if (covers(object->symbols + i, address - object->bias))
			return object->strings + object->symbols[i].st_name;
	return NULL;
}
