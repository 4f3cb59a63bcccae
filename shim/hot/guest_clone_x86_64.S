// SPDX-License-Identifier: MIT
// Starting the flusher's bare thread: a raw clone, since the C library must not know of it. Called by
// guest.c. Hot context.
//
//   long pft_guest_clone(unsigned long flags, void *stack, uint32_t *tid, void *tls, void (*run)(void))
//
// Arguments of clone(2) on x86-64: flags rdi, stack rsi, parent_tid rdx, child_tid r10, tls r8. The child
// comes out of the system call with rsp = stack and every other register as here.
#include <cet.h> // marks the object as fit for a shadow stack and branch tracking

	.text
	.globl	pft_guest_clone
	.hidden	pft_guest_clone
	.type	pft_guest_clone, @function
pft_guest_clone:
	.cfi_startproc
	endbr64
	mov	%r8, %r9
	mov	%rdx, %r10
	mov	%rcx, %r8
	mov	$56, %eax			// SYS_clone
	syscall
	test	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip			// the outermost frame of this thread
	xor	%ebp, %ebp
	call	*%r9
	xor	%edi, %edi
	mov	$60, %eax			// SYS_exit: this thread alone
	syscall
	hlt
	.cfi_endproc
	.size	pft_guest_clone, . - pft_guest_clone

	.section .note.GNU-stack, "", @progbits
