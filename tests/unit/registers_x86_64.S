// SPDX-License-Identifier: MIT
// A caller and a callee that see and set every register: see registers.h. Called by unit tests.
#define RAX 0
#define RCX 8
#define RDX 16
#define RSI 24
#define RDI 32
#define R8 40
#define R9 48
#define R10 56
#define R11 64
#define RBX 72
#define RBP 80
#define R12 88
#define R13 96
#define R14 104
#define R15 112
#define RSP 120
#define FLAGS 128
#define STACK 136
#define EXTENDED 192
#define BYTES 2880

// XSAVE components: x87, SSE, AVX, AVX-512.
#define COMPONENTS 0xe7

// All general registers and the flags, without losing any of them.
.macro STORE to
	mov	%rsp, \to+RSP(%rip)
	pushfq
	popq	\to+FLAGS(%rip)
	mov	%rax, \to+RAX(%rip)
	mov	%rcx, \to+RCX(%rip)
	mov	%rdx, \to+RDX(%rip)
	mov	%rsi, \to+RSI(%rip)
	mov	%rdi, \to+RDI(%rip)
	mov	%r8, \to+R8(%rip)
	mov	%r9, \to+R9(%rip)
	mov	%r10, \to+R10(%rip)
	mov	%r11, \to+R11(%rip)
	mov	%rbx, \to+RBX(%rip)
	mov	%rbp, \to+RBP(%rip)
	mov	%r12, \to+R12(%rip)
	mov	%r13, \to+R13(%rip)
	mov	%r14, \to+R14(%rip)
	mov	%r15, \to+R15(%rip)
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	xsave64	\to+EXTENDED(%rip)
.endm

.macro LOAD_EXTENDED from
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	xrstor64 \from+EXTENDED(%rip)
.endm

.macro LOAD_SCRATCH from
	mov	\from+RCX(%rip), %rcx
	mov	\from+RDX(%rip), %rdx
	mov	\from+RSI(%rip), %rsi
	mov	\from+RDI(%rip), %rdi
	mov	\from+R8(%rip), %r8
	mov	\from+R9(%rip), %r9
	mov	\from+R10(%rip), %r10
	mov	\from+R11(%rip), %r11
	mov	\from+RAX(%rip), %rax
.endm

	.text
	.globl	registers_call
	.type	registers_call, @function
registers_call:
	.cfi_startproc
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	push	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r12, 0
	push	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r13, 0
	push	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r14, 0
	push	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r15, 0
	sub	$40, %rsp			// four stack arguments, and rsp aligned to 16
	.cfi_adjust_cfa_offset 40
	mov	%rdi, function(%rip)
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	xsave64	kept(%rip)
	.irp	n, 1, 2, 3, 4
	mov	registers_passed+STACK+8*\n(%rip), %rax
	mov	%rax, 8*(\n-1)(%rsp)
	.endr
	LOAD_EXTENDED registers_passed
	mov	registers_passed+RBX(%rip), %rbx
	mov	registers_passed+RBP(%rip), %rbp
	mov	registers_passed+R12(%rip), %r12
	mov	registers_passed+R13(%rip), %r13
	mov	registers_passed+R14(%rip), %r14
	mov	registers_passed+R15(%rip), %r15
	mov	%rsp, registers_passed+RSP(%rip)
	LOAD_SCRATCH registers_passed
	call	*function(%rip)
	STORE	registers_returned
	.irp	n, 1, 2, 3, 4
	mov	8*(\n-1)(%rsp), %rax
	mov	%rax, registers_returned+STACK+8*\n(%rip)
	.endr
	LOAD_EXTENDED kept-EXTENDED
	cld
	add	$40, %rsp
	.cfi_adjust_cfa_offset -40
	pop	%r15
	.cfi_adjust_cfa_offset -8
	.cfi_restore r15
	pop	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore r14
	pop	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore r13
	pop	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore r12
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	registers_call, . - registers_call

	.globl	registers_callee
	.type	registers_callee, @function
registers_callee:
	.cfi_startproc
	STORE	registers_entered
	.irp	n, 0, 1, 2, 3, 4
	mov	8*\n(%rsp), %rax
	mov	%rax, registers_entered+STACK+8*\n(%rip)
	.endr
	.irp	n, 1, 2, 3, 4
	mov	registers_given+STACK+8*\n(%rip), %rax
	mov	%rax, 8*\n(%rsp)
	.endr
	LOAD_EXTENDED registers_given
	LOAD_SCRATCH registers_given
	ret
	.cfi_endproc
	.size	registers_callee, . - registers_callee

	.globl	registers_trash
	.type	registers_trash, @function
registers_trash:
	.cfi_startproc
	LOAD_EXTENDED trash-EXTENDED
	LOAD_SCRATCH registers_given
	ret
	.cfi_endproc
	.size	registers_trash, . - registers_trash

	.bss
	.p2align 6
	.globl	registers_passed, registers_entered, registers_given, registers_returned
registers_passed:
	.zero	BYTES
registers_entered:
	.zero	BYTES
registers_given:
	.zero	BYTES
registers_returned:
	.zero	BYTES
kept:	.zero	BYTES - EXTENDED
trash:	.zero	BYTES - EXTENDED	// no component in use: all take their initial values
function:
	.zero	8

	.section .note.GNU-stack, "", @progbits
