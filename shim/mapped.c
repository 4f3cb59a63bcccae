// SPDX-License-Identifier: MIT
// Keeping the mappings: see mapped.h. The rule: a number always means the same code, so an object that comes
// to another place, or another file that comes to the same one, gets another number.
#include "shim/mapped.h"

#include <link.h>
#include <string.h>

#include "shim/hot/learn.h"
#include "shim/hot/pages.h"
#include "shim/hot/rules.h"
#include "shim/texts.h"

static struct pft_session *session;
static struct pft_mapped all[PFT_MAPPINGS_MAX];
static size_t all_count;

void pft_mapped_start(struct pft_session *in)
{
	session = in;
}

// ---- what is said of an object ----------------------------------------------------------------------

static size_t padded(size_t bytes)
{
	return (bytes + 3) & ~(size_t)3;
}

// Notes are a header, a name and a description, each filled up to 4 bytes.
static const Elf64_Nhdr *build_id_in(const char *at, const char *end)
{
	while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *note = (const void *)at;
		size_t bytes = sizeof(*note) + padded(note->n_namesz) + padded(note->n_descsz);

		if (bytes > (size_t)(end - at))
			return NULL;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(note + 1, "GNU", 4) == 0)
			return note;
		at += bytes;
	}
	return NULL;
}

static void copy_build_id(struct pft_session_mapping *mapping, const struct pft_object *object)
{
	for (size_t i = 0; i < object->header_count; i++) {
		const Elf64_Phdr *header = &object->headers[i];
		const char *notes = (const char *)(object->bias + header->p_vaddr);
		const Elf64_Nhdr *note;

		if (header->p_type != PT_NOTE)
			continue;
		note = build_id_in(notes, notes + header->p_memsz);
		if (!note)
			continue;
		mapping->build_id_bytes = note->n_descsz < PFT_BUILD_ID ? note->n_descsz : PFT_BUILD_ID;
		memcpy(mapping->build_id, (const char *)(note + 1) + padded(note->n_namesz),
			mapping->build_id_bytes);
		return;
	}
}

static struct pft_session_mapping describe(const struct pft_object *object)
{
	struct pft_session_mapping mapping = {
		.start = object->low, .end = object->high, .bias = object->bias};

	copy_build_id(&mapping, object);
	return mapping;
}

static uintptr_t unwind_index_of(const struct pft_object *object)
{
	for (size_t i = 0; i < object->header_count; i++)
		if (object->headers[i].p_type == PT_GNU_EH_FRAME)
			return object->bias + object->headers[i].p_vaddr;
	return 0;
}

// ---- numbers ----------------------------------------------------------------------------------------

static bool is_it(
	const struct pft_session_mapping *known, const struct pft_session_mapping *mapping, const char *path)
{
	return known->start == mapping->start && known->end == mapping->end && known->bias == mapping->bias &&
	       known->build_id_bytes == mapping->build_id_bytes &&
	       memcmp(known->build_id, mapping->build_id, mapping->build_id_bytes) == 0 &&
	       strcmp(pft_session_string(session, known->path), path) == 0;
}

static uint32_t add(struct pft_session_mapping mapping, const char *path)
{
	uint32_t number = session->mappings;

	if (number == PFT_MAPPINGS_MAX || !pft_texts_reserve(session, strlen(path) + 1) ||
		!pft_pages_reserve(pft_session_mapping(session, number), sizeof(mapping)))
		return 0;
	mapping.path = pft_texts_add(session, path);
	*pft_session_mapping(session, number) = mapping;
	__atomic_store_n(&session->mappings, number + 1, __ATOMIC_RELEASE);
	return number;
}

static uint32_t number_of(const struct pft_object *object)
{
	struct pft_session_mapping mapping = describe(object);

	for (uint32_t number = 1; number < session->mappings; number++)
		if (is_it(pft_session_mapping(session, number), &mapping, object->path))
			return number;
	return add(mapping, object->path);
}

// ---- what is there ----------------------------------------------------------------------------------

static bool is_among(const struct pft_mapped *mapped, const struct pft_mapped *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].number == mapped->number && list[i].low == mapped->low)
			return true;
	return false;
}

static size_t read_all(struct pft_mapped *list, const struct pft_object *objects, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count && used < PFT_MAPPINGS_MAX; i++) {
		const struct pft_object *object = &objects[i];

		if (object->high == 0)
			continue;
		list[used++] = (struct pft_mapped){
			.low = object->low,
			.high = object->high,
			.bias = object->bias,
			.headers = object->headers,
			.header_count = object->header_count,
			.unwind_index = unwind_index_of(object),
			.number = number_of(object),
			.self = object->self,
		};
	}
	return used;
}

static bool has_gone(const struct pft_mapped *list, size_t count)
{
	for (size_t i = 0; i < all_count; i++)
		if (!is_among(&all[i], list, count))
			return true;
	return false;
}

void pft_mapped_renew(const struct pft_object *objects, size_t count)
{
	static struct pft_mapped list[PFT_MAPPINGS_MAX];
	size_t used;

	if (!session)
		return;
	used = read_all(list, objects, count);
	if (!pft_learn_hold()) {
		__atomic_store_n(&pft_unwinder, NULL, __ATOMIC_RELEASE);
		return;
	}
	if (has_gone(list, used))
		pft_rules_forget();
	memcpy(all, list, used * sizeof(*list));
	all_count = used;
	pft_learn_release();
}

const struct pft_mapped *pft_mapped_at(uintptr_t address)
{
	for (size_t i = 0; i < all_count; i++)
		if (address - all[i].low < all[i].high - all[i].low)
			return &all[i];
	return NULL;
}

bool pft_mapped_holds(const struct pft_mapped *mapped, uintptr_t address, size_t bytes)
{
	for (size_t i = 0; i < mapped->header_count; i++) {
		const Elf64_Phdr *header = &mapped->headers[i];
		uintptr_t start = mapped->bias + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_R && address >= start &&
			address - start < header->p_memsz && bytes <= header->p_memsz - (address - start))
			return true;
	}
	return false;
}
