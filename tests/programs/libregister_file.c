// SPDX-License-Identifier: MIT
// The callee of register_file: see the header.
#include "tests/programs/register_file.h"

static struct probe files __attribute__((used));

struct probe *probe_of_library(void)
{
	return &files;
}

_Static_assert(sizeof(struct register_file) == 2880 && offsetof(struct probe, stack_seen) == 5760, "below");

__asm__(FILE_ASSEMBLY "	.text\n"
		      "	.globl	probe\n"
		      "	.type	probe, @function\n"
		      "probe:\n"
		      "	.cfi_startproc\n"
		      "	store_file files\n"
		      "	xor	%ecx, %ecx\n"
		      "	lea	files + 5760(%rip), %rdx\n"
		      "1:	mov	8(%rsp, %rcx, 8), %rax\n"
		      "	mov	%rax, (%rdx, %rcx, 8)\n"
		      "	not	%rax\n"
		      "	mov	%rax, 8(%rsp, %rcx, 8)\n"
		      "	inc	%ecx\n"
		      "	cmp	$32, %ecx\n" // FILE_STACK_WORDS
		      "	jne	1b\n"
		      "	load_file files + 2880, rax, -, rcx, rdx, rsi, rdi, -, -, r8, r9, r10, r11\n"
		      "	ret\n"
		      "	.cfi_endproc\n"
		      "	.size	probe, . - probe\n");
