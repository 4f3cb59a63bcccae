// SPDX-License-Identifier: MIT
// Knows PLT stubs by their shape and leads them elsewhere; see stubs.h. Called by code.c and hooks.c.
// The rule: all that can fail comes before the first store, and the code may run at any time meanwhile.
#include "shim/stubs.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/near.h"

#define PAGE_BYTES 4096
#define DISPLACEMENT_BYTES 4

// ---- shapes -----------------------------------------------------------------------------------------

struct shape {
	size_t bytes; // of the stub, and its alignment
	size_t at; // of the displacement, whose bytes are not compared
	unsigned char code[16];
};

static const struct shape shapes[] = {
	// GNU ld: jmp, nop
	{8, 2, {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90}},
	// -z bndplt, of earlier versions: bnd jmp, nop
	{8, 3, {0xf2, 0xff, 0x25, 0, 0, 0, 0, 0x90}},
	// -z ibtplt, of earlier versions: endbr64, bnd jmp, nop
	{16, 7, {0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
	// -z ibtplt: endbr64, jmp, nop
	{16, 6, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
	// mold: endbr64, jmp, int3
	{16, 6, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc}},
};

static bool has_shape(const struct shape *shape, const unsigned char *stub)
{
	size_t rest = shape->at + DISPLACEMENT_BYTES;

	return memcmp(stub, shape->code, shape->at) == 0 &&
	       memcmp(stub + rest, shape->code + rest, shape->bytes - rest) == 0;
}

bool pft_stub_around(const unsigned char *displacement, const unsigned char *start, const unsigned char *end)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct shape *shape = &shapes[i];
		const unsigned char *stub = displacement - shape->at;

		if ((uintptr_t)stub % shape->bytes == 0 && stub >= start && stub + shape->bytes <= end &&
			has_shape(shape, stub))
			return true;
	}
	return false;
}

// ---- changing ---------------------------------------------------------------------------------------

// Pages of one segment, from the first stub in it to the last.
struct pages {
	uintptr_t low, high;
};

static struct pages pages_of(const struct pft_stubs_change *change, const Elf64_Phdr *segment)
{
	uintptr_t start = change->object->bias + segment->p_vaddr, end = start + segment->p_memsz;
	struct pages pages = {UINTPTR_MAX, 0};

	for (size_t i = 0; i < change->count; i++) {
		uintptr_t at = (uintptr_t)change->plans[i].displacement;

		if (at < start || at >= end)
			continue;
		if (at < pages.low)
			pages.low = at;
		if (at + DISPLACEMENT_BYTES > pages.high)
			pages.high = at + DISPLACEMENT_BYTES;
	}
	pages.low &= -(uintptr_t)PAGE_BYTES;
	return pages;
}

static bool is_code(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_X;
}

static int protection_of(const Elf64_Phdr *segment)
{
	return (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
	       (segment->p_flags & PF_X ? PROT_EXEC : 0);
}

// The pages that hold stubs, with `more` than their segments ask for.
static int protect(const struct pft_stubs_change *change, int more)
{
	int result = 0;

	for (size_t i = 0; i < change->object->header_count && result == 0; i++) {
		const Elf64_Phdr *segment = &change->object->headers[i];
		struct pages pages = {0};

		if (is_code(segment))
			pages = pages_of(change, segment);
		if (pages.low < pages.high)
			result = (int)pft_sys_mprotect(
				(void *)pages.low, pages.high - pages.low, protection_of(segment) | more);
	}
	return result;
}

static int make_ways(struct pft_stubs_change *change)
{
	struct pft_stubs_kept *kept = &change->kept;
	size_t bytes = change->count * sizeof(*kept->ways);

	kept->ways = pft_near_map(change->object->low, change->object->high, bytes);
	if (!kept->ways)
		return -ENOMEM;
	kept->count = change->count;
	kept->displacement = change->plans[0].displacement;
	for (size_t i = 0; i < change->count; i++)
		kept->ways[i] = change->plans[i].thunk;
	return (int)pft_sys_mprotect(kept->ways, bytes, PROT_READ);
}

// The pages stay executable while they are writable. To give up the one right for the other would need no
// leave, but the way back would, when code was written to (SELinux execmod, PR_SET_MDWE, system call
// filters): the refusal must come now, while it costs nothing but hooks.
int pft_stubs_prepare(struct pft_stubs_change *change)
{
	int result;

	change->kept = (struct pft_stubs_kept){0};
	if (change->count == 0)
		return 0;
	result = make_ways(change);
	if (result == 0)
		result = protect(change, PROT_WRITE);
	if (result) {
		protect(change, 0);
		pft_stubs_drop(&change->kept);
	}
	return result;
}

static int32_t distance(const unsigned char *displacement, const void *way)
{
	return (int32_t)((uintptr_t)way - (uintptr_t)(displacement + DISPLACEMENT_BYTES));
}

// One store: a thread that runs through the stub meanwhile takes the old way or the new one.
static void lead(unsigned char *displacement, const void *way)
{
	typedef int32_t anywhere __attribute__((aligned(1), may_alias));

	*(volatile anywhere *)displacement = distance(displacement, way);
}

void pft_stubs_commit(struct pft_stubs_change *change)
{
	if (change->count == 0)
		return;
	for (size_t i = 0; i < change->count; i++)
		__atomic_store_n(change->plans[i].cell, change->plans[i].original, __ATOMIC_RELEASE);
	for (size_t i = 0; i < change->count; i++)
		lead(change->plans[i].displacement, &change->kept.ways[i]);
	protect(change, 0);
}

// ---- afterwards -------------------------------------------------------------------------------------

// What was mapped at the same place may be shorter, or no code there.
static bool holds_code(const struct pft_object *object, const unsigned char *displacement)
{
	for (size_t i = 0; i < object->header_count; i++) {
		const Elf64_Phdr *segment = &object->headers[i];
		uintptr_t offset = (uintptr_t)displacement - object->bias - segment->p_vaddr;

		if (is_code(segment) && segment->p_flags & PF_R && offset < segment->p_filesz &&
			segment->p_filesz - offset >= DISPLACEMENT_BYTES)
			return true;
	}
	return false;
}

bool pft_stubs_are_led(const struct pft_stubs_kept *kept, const struct pft_object *object)
{
	int32_t found;

	if (!kept->ways || !holds_code(object, kept->displacement))
		return false;
	memcpy(&found, kept->displacement, sizeof(found));
	return found == distance(kept->displacement, kept->ways);
}

void pft_stubs_drop(struct pft_stubs_kept *kept)
{
	if (kept->ways)
		pft_sys_munmap(kept->ways, kept->count * sizeof(*kept->ways));
	*kept = (struct pft_stubs_kept){0};
}
