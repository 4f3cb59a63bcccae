// SPDX-License-Identifier: MIT
// Pages are there before they are written, or that they cannot be is said without a signal.
#define _GNU_SOURCE
#include "shim/hot/pages.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096
#define PAGES 16

static char *memory;
static int file;

// Sixteen pages of which the file holds some, without access, as a session is mapped.
static void map_file(size_t pages_in_file)
{
	file = memfd_create("pages", 0);
	cr_assert_geq(file, 0);
	cr_assert_eq(ftruncate(file, (off_t)(pages_in_file * PAGE)), 0);
	memory = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_SHARED, file, 0);
	cr_assert_neq(memory, MAP_FAILED);
}

static unsigned resident(void)
{
	unsigned char is_in[PAGES];
	unsigned count = 0;

	cr_assert_eq(mincore(memory, PAGES * PAGE, is_in), 0);
	for (unsigned i = 0; i < PAGES; i++)
		count += is_in[i] & 1;
	return count;
}

// As kernels before 5.14: they do not know the advice.
static void know_no_advice(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), 0);
	cr_assert_eq(madvise(memory, PAGE, MADV_NORMAL), -1);
}

static void check_reserves(void)
{
	cr_assert_eq(resident(), 0);
	cr_assert(pft_pages_reserve(memory + PAGE, 3 * PAGE));
	cr_assert_eq(resident(), 3);
	memset(memory + PAGE, 1, 3 * PAGE);
}

static void check_keeps(void)
{
	cr_assert_eq(mprotect(memory, PAGES * PAGE, PROT_READ | PROT_WRITE), 0);
	for (unsigned i = 0; i < PAGES * PAGE; i++)
		memory[i] = (char)(i * 7);
	cr_assert(pft_pages_reserve(memory, PAGES * PAGE));
	for (unsigned i = 0; i < PAGES * PAGE; i++)
		cr_assert_eq(memory[i], (char)(i * 7), "byte %u", i);
}

static void check_reserves_around(void)
{
	cr_assert(pft_pages_reserve(memory + PAGE - 1, 2));
	cr_assert_eq(resident(), 2, "one byte on each of two pages");
}

static void check_refuses(void)
{
	cr_assert(pft_pages_reserve(memory, 4 * PAGE));
	cr_assert_not(pft_pages_reserve(memory, 5 * PAGE), "the file ends before");
	cr_assert_not(pft_pages_reserve(memory + 4 * PAGE, PAGE));
	cr_assert_eq(munmap(memory, PAGE), 0);
	cr_assert_not(pft_pages_reserve(memory, PAGE), "nothing is mapped there");
}

Test(pages, are_there_when_they_are_reserved)
{
	map_file(PAGES);
	check_reserves();
}

Test(pages, are_reserved_whole_for_a_part)
{
	map_file(PAGES);
	check_reserves_around();
}

Test(pages, keep_what_is_in_them)
{
	map_file(PAGES);
	check_keeps();
}

Test(pages, that_cannot_be_written_are_refused)
{
	map_file(4);
	check_refuses();
}

Test(pages, are_there_when_an_old_kernel_reserves_them)
{
	map_file(PAGES);
	know_no_advice();
	check_reserves();
}

Test(pages, are_reserved_whole_by_an_old_kernel_as_well)
{
	map_file(PAGES);
	know_no_advice();
	check_reserves_around();
}

Test(pages, keep_what_is_in_them_on_an_old_kernel)
{
	map_file(PAGES);
	know_no_advice();
	check_keeps();
}

Test(pages, that_cannot_be_written_are_refused_by_an_old_kernel)
{
	map_file(4);
	know_no_advice();
	check_refuses();
}
