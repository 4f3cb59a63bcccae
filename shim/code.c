// SPDX-License-Identifier: MIT
// Looks through executable segments for references to GOT slots; see code.h. Pure but for the arena.
// The rule: no reference is missed. What cannot be read counts as one to every slot.
#include "shim/code.h"

#include <errno.h>
#include <string.h>

#include "shim/stubs.h"

// Intel SDM 2.1.5 and 2.2.1.6: any reg, mod 0, r/m 5 is a displacement from the next instruction.
#define MODRM_MASK 0xc7
#define MODRM_RELATIVE 0x05
#define EACH_BYTE UINT64_C(0x0101010101010101)

// ModRM and displacement.
#define REFERENCE_BYTES 5
// Bytes of the longest immediate operand, which stands between the displacement and the next instruction.
#define IMMEDIATE_MAX 4

struct reading {
	struct pft_code_use *uses;
	uint32_t *numbers; // of each 8 bytes from `first` on: one more than the index of the slot's use, or 0
	uintptr_t first; // slot
	size_t count; // of numbers
	size_t unsettled; // uses of which more can be learnt
	const unsigned char *start, *end; // of the segment
};

// ---- one reference ----------------------------------------------------------------------------------

static struct pft_code_use *use_of(const struct reading *reading, uintptr_t address)
{
	size_t index = (address - reading->first) / sizeof(void *);

	if (address % sizeof(void *) || index >= reading->count || !reading->numbers[index])
		return NULL;
	return &reading->uses[reading->numbers[index] - 1];
}

// FF /2 is a call, FF /4 a jump, whatever prefixes stand before it. No other instruction that refers to
// memory has this opcode with these ModRM bytes, in no opcode map.
static bool is_branch(const struct reading *reading, const unsigned char *modrm)
{
	return modrm > reading->start && modrm[-1] == 0xff && (*modrm == 0x15 || *modrm == 0x25);
}

static bool is_settled(const struct pft_code_use *use)
{
	return use->taken && use->stub;
}

static void note_branch(
	const struct reading *reading, struct pft_code_use *use, const unsigned char *displacement)
{
	if (!use->stub && pft_stub_around(displacement, reading->start, reading->end))
		use->stub = (unsigned char *)displacement;
	else
		use->calls++;
}

static void note(struct reading *reading, struct pft_code_use *use, const unsigned char *modrm, bool branch)
{
	if (is_settled(use))
		return;
	if (branch)
		note_branch(reading, use, modrm + 1);
	else
		use->taken = true;
	reading->unsettled -= is_settled(use);
}

static int32_t displacement_behind(const unsigned char *modrm)
{
	int32_t displacement;

	memcpy(&displacement, modrm + 1, sizeof(displacement));
	return displacement;
}

static void look_at(struct reading *reading, const unsigned char *modrm)
{
	static const unsigned char immediates[] = {0, 1, 2, IMMEDIATE_MAX};
	uintptr_t target = (uintptr_t)modrm + REFERENCE_BYTES + (uintptr_t)displacement_behind(modrm);

	if ((*modrm & MODRM_MASK) != MODRM_RELATIVE)
		return;
	for (size_t i = 0; i < sizeof(immediates); i++) {
		struct pft_code_use *use = use_of(reading, target + immediates[i]);

		if (use)
			note(reading, use, modrm, immediates[i] == 0 && is_branch(reading, modrm));
	}
}

// ---- a segment --------------------------------------------------------------------------------------

// Whether what stands behind `modrm` may lead to a slot: modulo 2^32, which is as far as it can lead.
static inline bool leads_near(const struct reading *reading, const unsigned char *modrm)
{
	uint32_t target = (uint32_t)(uintptr_t)modrm + REFERENCE_BYTES + (uint32_t)displacement_behind(modrm);

	return target + IMMEDIATE_MAX - (uint32_t)reading->first <
	       (uint32_t)(reading->count * sizeof(void *)) + IMMEDIATE_MAX;
}

// Marks the highest bit of each byte that may be a ModRM byte: where (byte ^ 5) & 0xc7 is zero, and by the
// borrow now and then in the byte behind.
static inline uint64_t mark_modrm(uint64_t bytes)
{
	bytes = (bytes ^ MODRM_RELATIVE * EACH_BYTE) & MODRM_MASK * EACH_BYTE;
	return (bytes - EACH_BYTE) & ~bytes & 0x80 * EACH_BYTE;
}

// Eight bytes at a time: one in five or six windows holds no candidate at all, and nearly every candidate
// ends at leads_near.
static void read_segment(struct reading *reading)
{
	const unsigned char *at = reading->start;
	const unsigned char *last = reading->end - REFERENCE_BYTES;

	for (; at + sizeof(uint64_t) <= last && reading->unsettled; at += sizeof(uint64_t)) {
		uint64_t bytes, marks;

		memcpy(&bytes, at, sizeof(bytes));
		for (marks = mark_modrm(bytes); marks; marks &= marks - 1) {
			const unsigned char *modrm = at + __builtin_ctzll(marks) / 8;

			if (leads_near(reading, modrm))
				look_at(reading, modrm);
		}
	}
	for (; at <= last && reading->unsettled; at++)
		look_at(reading, at);
}

static bool is_code(const Elf64_Phdr *header)
{
	return header->p_type == PT_LOAD && header->p_flags & PF_X;
}

static void read_segments(struct reading *reading, const struct pft_object *object)
{
	for (size_t i = 0; i < object->header_count; i++) {
		const Elf64_Phdr *header = &object->headers[i];

		if (!is_code(header) || !(header->p_flags & PF_R) || header->p_filesz < REFERENCE_BYTES)
			continue;
		reading->start = (const unsigned char *)object->bias + header->p_vaddr;
		reading->end = reading->start + header->p_filesz;
		read_segment(reading);
	}
}

// ---- asking -----------------------------------------------------------------------------------------

static bool is_readable(const struct pft_object *object)
{
	for (size_t i = 0; i < object->header_count; i++)
		if (is_code(&object->headers[i]) && !(object->headers[i].p_flags & PF_R))
			return false;
	return object->header_count > 0;
}

// The slots of an object lie side by side, in its .got.
static int number_slots(struct reading *reading, size_t count, struct pft_arena *arena)
{
	uintptr_t last = 0;

	reading->first = UINTPTR_MAX;
	for (size_t i = 0; i < count; i++) {
		if (reading->uses[i].slot < reading->first)
			reading->first = reading->uses[i].slot;
		if (reading->uses[i].slot > last)
			last = reading->uses[i].slot;
	}
	reading->count = (last - reading->first) / sizeof(void *) + 1;
	reading->numbers = pft_arena_alloc(arena, reading->count * sizeof(*reading->numbers));
	if (!reading->numbers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		reading->numbers[(reading->uses[i].slot - reading->first) / sizeof(void *)] = (uint32_t)i + 1;
	return 0;
}

int pft_code_read_uses(
	const struct pft_object *object, struct pft_code_use *uses, size_t count, struct pft_arena *arena)
{
	struct pft_arena_mark mark = pft_arena_mark(arena);
	struct reading reading = {.uses = uses, .unsettled = count};
	int error;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		uses[i] = (struct pft_code_use){.slot = uses[i].slot, .taken = !is_readable(object)};
	error = number_slots(&reading, count, arena);
	if (!error)
		read_segments(&reading, object);
	pft_arena_release(arena, mark);
	return error;
}
