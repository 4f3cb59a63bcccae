// SPDX-License-Identifier: MIT
// Runs ordinary code in the middle of anything: on another stack, with the vector, x87 and control registers
// that may hold a caller's arguments or a callee's result saved. Hot context; called by self.c.
//
//   bool pft_aside(bool (*run)(void), void *stack_end, void *area, bool xsave)
//
// `stack_end` and `area` are aligned to 64. XSAVE of components 0-2 and 5-7 (x87, SSE, AVX, AVX-512) takes
// 2,688 bytes in the standard format (SDM 1, 13.4); its header must be zero before the first use. Without
// `xsave` (CPUID.1:ECX.OSXSAVE) there are x87 and SSE only, and FXSAVE keeps them.
#define COMPONENTS 0xe7

#include <cet.h> // marks the object as fit for a shadow stack and branch tracking

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
	push	%r12
	.cfi_offset r12, -32
	mov	%rsi, %rsp
	mov	%rdx, %rbx
	mov	%ecx, %r12d
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	test	%r12b, %r12b
	jz	1f
	xsave64	(%rbx)
	jmp	2f
1:	fxsave64 (%rbx)
2:	call	*%rdi
	mov	%eax, %esi
	mov	$COMPONENTS, %eax
	xor	%edx, %edx
	test	%r12b, %r12b
	jz	3f
	xrstor64 (%rbx)
	jmp	4f
3:	fxrstor64 (%rbx)
4:	mov	%esi, %eax
	mov	-16(%rbp), %r12
	.cfi_restore r12
	mov	-8(%rbp), %rbx
	.cfi_restore rbx
	leave
	.cfi_restore rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	pft_aside, . - pft_aside

	.section .note.GNU-stack, "", @progbits
