// SPDX-License-Identifier: MIT
// Runs ordinary code in the middle of anything: on another stack, with the vector, x87 and control registers
// that may hold a caller's arguments or a callee's result saved. Hot context; called by self.c.
//
//   bool pft_aside(bool (*run)(void), void *stack_end, void *area)
//
// `stack_end` and `area` are aligned to 64. XSAVE of components 0-2 and 5-7 (x87, SSE, AVX, AVX-512) takes
// 2,688 bytes in the standard format (SDM 1, 13.4); its header must be zero before the first use.
#define COMPONENTS 0xe7

	.text
	.globl	pft_aside
	.hidden	pft_aside
	.type	pft_aside, @function
pft_aside:
	.cfi_startproc
	endbr64
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	push	%rbx
	.cfi_offset rbx, -24
	mov	%rsi, %rsp
	mov	%rdx, %rbx
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	xsave64	(%rbx)
	call	*%rdi
	mov	%eax, %esi
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	xrstor64 (%rbx)
	mov	%esi, %eax
	mov	-8(%rbp), %rbx
	leave
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	pft_aside, . - pft_aside

	.section .note.GNU-stack, "", @progbits
