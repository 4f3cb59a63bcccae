// SPDX-License-Identifier: MIT
// Small pieces of code that refer to slots, each at every place of the window that is read at a time.
#include "shim/code.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "tests/unit/code.h"

static unsigned char text[256] __attribute__((aligned(64)));
static void *slots[4];
static Elf64_Phdr segment;
static struct pft_object object;
static struct pft_arena arena;

static void start(void)
{
	memset(text, 0x90, sizeof(text));
	segment = (Elf64_Phdr){.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = (uintptr_t)text,
		.p_filesz = sizeof(text),
		.p_memsz = sizeof(text)};
	object = (struct pft_object){.headers = &segment, .header_count = 1};
}

static struct pft_code_use use_of(void *const *slot)
{
	struct pft_code_use use = {.slot = (uintptr_t)slot, .calls = 99, .taken = true};

	cr_assert_eq(pft_code_read_uses(&object, &use, 1, &arena), 0);
	return use;
}

TestSuite(code, .init = start);

struct instruction {
	const char *text;
	unsigned char bytes[8]; // before the displacement
	size_t count;
	size_t immediate; // bytes behind it
};

static const struct instruction branches[] = {
	{"call *slot", {0xff, 0x15}, 2, 0},
	{"jmp *slot", {0xff, 0x25}, 2, 0},
	{"bnd call *slot", {0xf2, 0xff, 0x15}, 3, 0},
	{"notrack jmp *slot", {0x3e, 0xff, 0x25}, 3, 0},
	{"rex.W jmp *slot", {0x48, 0xff, 0x25}, 3, 0},
};

static const struct instruction others[] = {
	{"mov slot, %rax", {0x48, 0x8b, 0x05}, 3, 0},
	{"mov slot, %r15", {0x4c, 0x8b, 0x3d}, 3, 0},
	{"push slot", {0xff, 0x35}, 2, 0},
	{"lea slot, %rax", {0x48, 0x8d, 0x05}, 3, 0},
	{"cmp %rdi, slot", {0x48, 0x39, 0x3d}, 3, 0},
	{"cmovne slot, %rdi", {0x48, 0x0f, 0x45, 0x3d}, 4, 0},
	{"cmpq $0, slot", {0x48, 0x83, 0x3d}, 3, 1},
	{"cmpw $0x1234, slot", {0x66, 0x81, 0x3d}, 3, 2},
	{"cmpq $0x12345678, slot", {0x48, 0x81, 0x3d}, 3, 4},
	{"lcall *slot", {0xff, 0x1d}, 2, 0},
	{"ljmp *slot", {0xff, 0x2d}, 2, 0},
	{"movq slot, %xmm0", {0xf3, 0x0f, 0x7e, 0x05}, 4, 0},
	{"movhps slot, %xmm0", {0x0f, 0x16, 0x05}, 3, 0},
	{"pinsrq $1, slot, %xmm0", {0x66, 0x48, 0x0f, 0x3a, 0x22, 0x05}, 6, 1},
	{"vpinsrq $1, slot, %xmm0, %xmm0", {0xc4, 0xe3, 0xf9, 0x22, 0x05}, 5, 1},
	{"vpbroadcastq slot, %zmm0", {0x62, 0xf2, 0xfd, 0x48, 0x59, 0x05}, 6, 0},
};

static void put(size_t at, const struct instruction *instruction, void *const *slot)
{
	unsigned char *displacement = text + at + instruction->count;

	memcpy(text + at, instruction->bytes, instruction->count);
	code_put_displacement(displacement, slot, instruction->immediate);
}

static size_t length(const struct instruction *instruction)
{
	return instruction->count + 4 + instruction->immediate;
}

Test(code, tells_calls_and_jumps_through_a_slot)
{
	for (size_t i = 0; i < sizeof(branches) / sizeof(*branches); i++)
		for (size_t at = 0; at < 16; at++) {
			struct pft_code_use use;

			start();
			put(at, &branches[i], &slots[1]);
			use = use_of(&slots[1]);
			cr_assert_eq(use.calls, 1, "%s at %zu", branches[i].text, at);
			cr_assert_not(use.taken, "%s at %zu", branches[i].text, at);
		}
}

Test(code, takes_every_other_reference_for_a_taken_address)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		for (size_t at = 0; at < 16; at++) {
			struct pft_code_use use;

			start();
			put(at, &others[i], &slots[1]);
			use = use_of(&slots[1]);
			cr_assert(use.taken, "%s at %zu", others[i].text, at);
			cr_assert_eq(use.calls, 0, "%s at %zu", others[i].text, at);
		}
}

Test(code, reads_to_the_last_byte_of_a_segment)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		start();
		put(sizeof(text) - length(&others[i]), &others[i], &slots[2]);
		cr_assert(use_of(&slots[2]).taken, "%s", others[i].text);
	}
}

Test(code, reads_each_segment_that_can_be_executed)
{
	Elf64_Phdr segments[3];

	put(100, &others[0], &slots[0]);
	put(200, &branches[0], &slots[0]);
	segments[0] = segments[1] = segments[2] = segment;
	segments[0].p_filesz = 64;
	segments[1].p_vaddr += 64;
	segments[1].p_filesz = 64;
	segments[2].p_vaddr += 128;
	segments[2].p_filesz = 128;
	object.headers = segments;
	object.header_count = 3;
	cr_assert(use_of(&slots[0]).taken);
	cr_assert_eq(use_of(&slots[0]).calls, 1);
	segments[1].p_flags = PF_R;
	cr_assert_not(use_of(&slots[0]).taken);
}

Test(code, that_cannot_be_read_may_take_any_address)
{
	put(10, &branches[0], &slots[0]);
	segment.p_flags = PF_X;
	cr_assert(use_of(&slots[0]).taken);
	object.header_count = 0;
	cr_assert(use_of(&slots[0]).taken);
}

Test(code, keeps_slots_apart)
{
	struct pft_code_use uses[3] = {{.slot = (uintptr_t)&slots[3]}, {.slot = (uintptr_t)&slots[0]},
		{.slot = (uintptr_t)&slots[1]}};

	put(20, &branches[0], &slots[0]);
	put(40, &branches[1], &slots[0]);
	put(60, &others[0], &slots[2]);
	put(80, &others[6], &slots[3]);
	cr_assert_eq(pft_code_read_uses(&object, uses, 3, &arena), 0);
	cr_assert(uses[0].taken);
	cr_assert_eq(uses[0].calls, 0);
	cr_assert_not(uses[1].taken);
	cr_assert_eq(uses[1].calls, 2);
	cr_assert_not(uses[2].taken);
	cr_assert_eq(uses[2].calls, 0);
}

Test(code, finds_the_stub_of_a_slot)
{
	struct pft_code_use use;

	code_put_stub(text + 64, code_stubs, &slots[1]);
	put(100, &others[0], &slots[1]);
	put(120, &branches[0], &slots[1]);
	use = use_of(&slots[1]);
	cr_assert_eq(use.stub, text + 66);
	cr_assert(use.taken);
}
