// SPDX-License-Identifier: MIT
// dlsym, gone into by a jump: it finds its caller's return address where it was. App context.
//
//   caller --call--> dlsym here --call--> pft_loader_before_dlsym, which answers the next definition
//                        |
//                        +--jmp--> the next dlsym --ret--> caller

#include <cet.h> // marks the object as fit for a shadow stack and branch tracking

.macro SAVE register
	push	\register
	.cfi_adjust_cfa_offset 8
.endm

.macro RESTORE register
	pop	\register
	.cfi_adjust_cfa_offset -8
.endm

	.text
	.p2align 4
	.globl	dlsym
	.type	dlsym, @function
dlsym:
	.cfi_startproc
	endbr64
	SAVE	%rdi			// handle
	SAVE	%rsi			// name
	sub	$8, %rsp		// the ABI wants the stack aligned at a call
	.cfi_adjust_cfa_offset 8
	call	pft_loader_before_dlsym
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	RESTORE	%rsi
	RESTORE	%rdi
	jmp	*%rax
	.cfi_endproc
	.size	dlsym, . - dlsym

	.section .note.GNU-stack, "", @progbits
