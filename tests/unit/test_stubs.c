// SPDX-License-Identifier: MIT
// Stubs in a page of code are recognised, led to another function and called.
#include "shim/stubs.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/code.h"

#define PAGE 4096
#define TEXT_BYTES (4 * PAGE)

static unsigned char *text;
static void **slots; // behind the code
static Elf64_Phdr segment;
static struct pft_object object;

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

static void start(void)
{
	text = mmap(NULL, TEXT_BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(text, MAP_FAILED);
	slots = (void **)(text + TEXT_BYTES);
	segment = (Elf64_Phdr){.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = (uintptr_t)text,
		.p_filesz = TEXT_BYTES,
		.p_memsz = TEXT_BYTES};
	object = (struct pft_object){.headers = &segment,
		.header_count = 1,
		.low = (uintptr_t)text,
		.high = (uintptr_t)(slots + PAGE / sizeof(*slots))};
}

static void make_executable(void)
{
	cr_assert_eq(mprotect(text, TEXT_BYTES, PROT_READ | PROT_EXEC), 0);
}

static void protection(const void *address, char flags[5])
{
	uintptr_t low = 0, high = 0;
	char line[4096];
	FILE *maps = fopen("/proc/self/maps", "r");

	do {
		cr_assert_not_null(fgets(line, sizeof(line), maps));
		cr_assert_eq(sscanf(line, "%lx-%lx %4s", &low, &high, flags), 3);
	} while ((uintptr_t)address < low || (uintptr_t)address >= high);
	fclose(maps);
}

static int call(const unsigned char *stub)
{
	return ((int (*)(void))stub)();
}

TestSuite(stubs, .init = start);

Test(stubs, are_known_by_their_shape)
{
	for (size_t i = 0; i < CODE_STUBS; i++) {
		const unsigned char *displacement = code_put_stub(text + 64, &code_stubs[i], slots);

		cr_assert(pft_stub_around(displacement, text, text + PAGE), "%s", code_stubs[i].linker);
	}
}

Test(stubs, are_aligned)
{
	for (size_t i = 0; i < CODE_STUBS; i++)
		for (size_t skew = 1; skew < 8; skew++) {
			const unsigned char *displacement =
				code_put_stub(text + 64 + skew, &code_stubs[i], slots);

			cr_assert_not(
				pft_stub_around(displacement, text, text + PAGE), "%s", code_stubs[i].linker);
		}
}

Test(stubs, are_whole)
{
	for (size_t i = 0; i < CODE_STUBS; i++) {
		const struct code_stub *stub = &code_stubs[i];
		const unsigned char *displacement = code_put_stub(text + 64, stub, slots);

		cr_assert_not(
			pft_stub_around(displacement, text, text + 64 + stub->bytes - 1), "%s", stub->linker);
		cr_assert_not(pft_stub_around(displacement, text + 64 + 1, text + PAGE), "%s", stub->linker);
	}
}

// A jump in the middle of a function: what follows is no filling.
Test(stubs, are_not_seen_in_other_jumps)
{
	const unsigned char *displacement = code_put_stub(text + 64, code_stubs, slots);

	text[64 + 7] = 0xc3;
	cr_assert_not(pft_stub_around(displacement, text, text + PAGE));
}

Test(stubs, lead_to_the_thunk_and_keep_their_slots)
{
	struct pft_stub_plan plans[CODE_STUBS];
	void *cells[CODE_STUBS] = {NULL};
	struct pft_stubs_change change = {.object = &object, .plans = plans, .count = CODE_STUBS};

	// Far enough from each other to lie on several pages.
	for (size_t i = 0; i < CODE_STUBS; i++) {
		unsigned char *at = text + i * 3000 / 16 * 16;

		slots[i] = one;
		plans[i] = (struct pft_stub_plan){
			code_put_stub(at, &code_stubs[i], &slots[i]), one, two, &cells[i]};
	}
	make_executable();
	cr_assert_eq(pft_stubs_prepare(&change), 0);
	for (size_t i = 0; i < CODE_STUBS; i++)
		cr_assert_eq(call(plans[i].displacement - code_stubs[i].at), 1);
	pft_stubs_commit(&change);
	for (size_t i = 0; i < CODE_STUBS; i++) {
		cr_assert_eq(call(plans[i].displacement - code_stubs[i].at), 2, "%s", code_stubs[i].linker);
		cr_assert_eq(slots[i], (void *)one);
		cr_assert_eq(cells[i], (void *)one);
	}
}

Test(stubs, are_executable_all_the_while_and_read_only_again)
{
	void *cell = NULL;
	struct pft_stub_plan plan = {code_put_stub(text, code_stubs, slots), one, two, &cell};
	struct pft_stubs_change change = {.object = &object, .plans = &plan, .count = 1};
	char flags[5];

	make_executable();
	cr_assert_eq(pft_stubs_prepare(&change), 0);
	protection(text, flags);
	cr_assert_str_eq(flags, "rwxp");
	protection(text + PAGE, flags);
	cr_assert_str_eq(flags, "r-xp", "other pages are let alone");
	pft_stubs_commit(&change);
	protection(text, flags);
	cr_assert_str_eq(flags, "r-xp");
	protection(change.kept.ways, flags);
	cr_assert_str_eq(flags, "r--p");
}

Test(stubs, are_known_as_led_until_the_object_is_mapped_anew)
{
	void *cell = NULL;
	struct pft_stub_plan plan = {code_put_stub(text, code_stubs, slots), one, two, &cell};
	struct pft_stubs_change change = {.object = &object, .plans = &plan, .count = 1};

	cr_assert_not(pft_stubs_are_led(&change.kept, &object), "nothing was changed");
	make_executable();
	cr_assert_eq(pft_stubs_prepare(&change), 0);
	cr_assert_not(pft_stubs_are_led(&change.kept, &object));
	pft_stubs_commit(&change);
	cr_assert(pft_stubs_are_led(&change.kept, &object));
	segment.p_vaddr += PAGE;
	cr_assert_not(pft_stubs_are_led(&change.kept, &object), "no code is there any more");
	start();
	code_put_stub(text, code_stubs, slots);
	cr_assert_not(pft_stubs_are_led(&change.kept, &object));
	pft_stubs_drop(&change.kept);
	cr_assert_null(change.kept.ways);
}

// As where the system lets nobody write to code: here by a mapping that may not become writable.
Test(stubs, stay_as_they_are_where_code_may_not_be_written)
{
	void *cell = NULL;
	struct pft_stub_plan plan = {.original = one, .thunk = two, .cell = &cell};
	struct pft_stubs_change change = {.object = &object, .plans = &plan, .count = 1};
	char path[] = "/tmp/stubs.XXXXXX", kept[8];
	int writable = mkstemp(path), file;

	plan.displacement = code_put_stub(text, code_stubs, slots);
	memcpy(kept, text, sizeof(kept));
	cr_assert_eq(write(writable, text, TEXT_BYTES), TEXT_BYTES);
	file = open(path, O_RDONLY);
	cr_assert_eq(mmap(text, TEXT_BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0), text);
	cr_assert_eq(pft_stubs_prepare(&change), -EACCES);
	cr_assert_null(change.kept.ways);
	cr_assert_eq(memcmp(text, kept, sizeof(kept)), 0);
	unlink(path);
}
