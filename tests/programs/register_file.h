// SPDX-License-Identifier: MIT
// The whole register file, at both ends of a call.
#ifndef PFT_TESTS_REGISTER_FILE_H
#define PFT_TESTS_REGISTER_FILE_H

#include <stddef.h>
#include <stdint.h>

enum {
	FILE_RAX,
	FILE_RBX,
	FILE_RCX,
	FILE_RDX,
	FILE_RSI,
	FILE_RDI,
	FILE_RBP,
	FILE_RSP,
	FILE_R8,
	FILE_R9,
	FILE_R10,
	FILE_R11,
	FILE_R12,
	FILE_R13,
	FILE_R14,
	FILE_R15,
	FILE_GENERAL
};

// x87, SSE, AVX and AVX-512 (components 0-2 and 5-7) in the standard format of XSAVE: SDM 1, 13.4.
#define FILE_EXTENDED_BYTES 2688

struct register_file {
	unsigned char extended[FILE_EXTENDED_BYTES] __attribute__((aligned(64)));
	uint64_t general[FILE_GENERAL];
	uint64_t flags;
};

_Static_assert(offsetof(struct register_file, general) == 2688, "FILE_ASSEMBLY");
_Static_assert(offsetof(struct register_file, flags) == 2816, "FILE_ASSEMBLY");

#define FILE_STACK_WORDS 32

struct probe {
	struct register_file seen, gives;
	uint64_t stack_seen[FILE_STACK_WORDS];
};

// Notes the registers and FILE_STACK_WORDS words of arguments, inverts the latter, and returns with the
// registers that `gives` says, but for those that a callee has to preserve.
void probe(void);
struct probe *probe_of_library(void);

// Assembler macros. store_file FILE uses rax and rdx afterwards; load_file FILE, REGISTERS... loads those
// general registers of the list in the order of the enum above, in which `-` stands for one to leave alone.
#define FILE_ASSEMBLY                                                                                        \
	"	.macro	store_file file\n"                                                                          \
	"	.set	at, 2688\n"                                                                                   \
	"	.irp	name, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, "              \
	"r15\n"                                                                                              \
	"	mov	%\\name, \\file + at(%rip)\n"                                                                  \
	"	.set	at, at + 8\n"                                                                                 \
	"	.endr\n"                                                                                           \
	"	pushf\n"                                                                                           \
	"	pop	\\file + 2816(%rip)\n"                                                                         \
	"	mov	$0xe7, %eax\n"                                                                                 \
	"	xor	%edx, %edx\n"                                                                                  \
	"	xsave64	\\file(%rip)\n"                                                                            \
	"	.endm\n"                                                                                           \
	"	.macro	load_file file, names:vararg\n"                                                             \
	"	mov	$0xe7, %eax\n"                                                                                 \
	"	xor	%edx, %edx\n"                                                                                  \
	"	xrstor64 \\file(%rip)\n"                                                                           \
	"	.set	at, 2688\n"                                                                                   \
	"	.irp	name, \\names\n"                                                                              \
	"	.ifnc	\\name, -\n"                                                                                 \
	"	mov	\\file + at(%rip), %\\name\n"                                                                  \
	"	.endif\n"                                                                                          \
	"	.set	at, at + 8\n"                                                                                 \
	"	.endr\n"                                                                                           \
	"	.endm\n"

#endif
