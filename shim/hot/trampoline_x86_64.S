// SPDX-License-Identifier: MIT
// The way through a diverted call. Hot context: see hot.h for what may happen between any two instructions.
//
//   caller --call *slot--> thunk (r11d = hook id) --> pft_enter --call *original--> function
//   caller <---------------------------- pft_return <-----------------------ret----
//
// At pft_enter [rsp] is the caller's return address and the stack arguments lie right above it. The address
// goes into a frame record (frame.h), rsp steps over it, and the call to the original puts pft_return into
// the very same slot: stack arguments stand where the callee expects them, and calls and returns stay paired
// for the return predictor and for a shadow stack.
//
// rbx, which a callee must give back (psABI 3.2.1), holds the record's address across the call: the way back
// needs no look-up and the unwind tables can say in plain DWARF where everything is.
//
// Preserved on the way in: every register but r11 (scratch for PLT code, psABI 3.2.1 and figure 3.4) and the
// flags; on the way back: all that a callee preserves or returns.
//
// Unwinding. Up to the point where rbx holds the record, and again behind the point where it holds the
// caller's value, the frame is an ordinary one. Between them it is described as a signal frame:
//   CFA = rsp of the call, return address = *[rbx] - 1, rbx = [rbx + 8].
// The CFA equals the callee's, and libgcc takes two frames of one CFA for one frame unless the signal mark
// tells them apart. The mark makes unwinders look up the caller at exactly the return address, which may lie
// behind the caller's last byte when its last instruction is the call; the minus one undoes that.
//
// A debugger that runs to the caller would put its breakpoint there, into the call instruction, and the next
// call would go astray. Debuggers look into .debug_frame first (gdb, dwarf2/frame.c, fde_is_less_than), which
// is not mapped: there the same frame is an ordinary one with the exact return address.

#define SELF_HEAD 0
#define SELF_BEGIN_LIMIT 8
#define SELF_END_LIMIT 12
#define SELF_LOW 16
#define SELF_FRAMES 24
#define SELF_RING 32
#define SELF_RING_MASK 40
#define SELF_BUSY 44

#define FRAME_RETURN_ADDRESS 0
#define FRAME_RBX 8
#define FRAME_WHAT 16
#define FRAME_OUTER 20

#define RECORD_TICKS 0
#define RECORD_WHAT 8
#define RECORD_AT 12

#define PFT_END 0x01000000
#define HOOKS_MAX 65536

// DWARF expressions: return address (column 16) is the value DW_OP_breg3 0, DW_OP_deref, DW_OP_lit1,
// DW_OP_minus; rbx (column 3) is saved at DW_OP_breg3 8.
#define CFI_RETURN_ADDRESS_IN_RECORD .cfi_escape 0x16, 0x10, 0x05, 0x73, 0x00, 0x06, 0x31, 0x1c
#define CFI_RBX_IN_RECORD .cfi_escape 0x10, 0x03, 0x02, 0x73, 0x08

// A range in which rbx holds the record and the CFA is rsp + `depth`, in both tables.
.macro RECORD_FRAME start, end, depth
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa %rsp, \depth
	CFI_RETURN_ADDRESS_IN_RECORD
	CFI_RBX_IN_RECORD
	.pushsection .debug_frame
	.long	9f - . - 4
	.long	.Lrecord_frame
	.quad	\start
	.quad	\end - \start
	.byte	0x0e				// DW_CFA_def_cfa_offset
	.uleb128 \depth
	.popsection
.endm

.macro RECORD_FRAME_END
	.cfi_endproc
	.pushsection .debug_frame
	.balign	8
9:
	.popsection
.endm

// The instruction before changed the depth.
.macro DEPTH depth
	.cfi_def_cfa_offset \depth
8:
	.pushsection .debug_frame
	.byte	0x01				// DW_CFA_set_loc
	.quad	8b
	.byte	0x0e				// DW_CFA_def_cfa_offset
	.uleb128 \depth
	.popsection
.endm

	.section .debug_frame, "", @progbits
.Lrecord_frame:
	.long	9f - . - 4
	.long	0xffffffff			// a CIE
	.byte	1				// version
	.asciz	""				// augmentation: none
	.uleb128 1				// of code addresses
	.sleb128 -8				// of data offsets
	.byte	16				// column of the return address
	.byte	0x0c, 7, 0			// DW_CFA_def_cfa rsp + 0
	.byte	0x10, 16, 2, 0x73, 0		// DW_CFA_expression: return address at DW_OP_breg3 0
	.byte	0x10, 3, 2, 0x73, 8		// DW_CFA_expression: rbx at DW_OP_breg3 8
	.balign	8
9:

.macro SAVE register
	push	\register
	.cfi_adjust_cfa_offset 8
.endm

.macro RESTORE register
	pop	\register
	.cfi_adjust_cfa_offset -8
.endm

// rcx = the thread's block
.macro LOAD_SELF
	mov	pft_self@gottpoff(%rip), %rcx
	mov	%fs:(%rcx), %rcx
.endm

#include <cet.h> // marks the object as fit for a shadow stack and branch tracking

	.text

// ---- thunks -----------------------------------------------------------------------------------------

	.p2align 6
	.globl	pft_thunks
	.hidden	pft_thunks
	.type	pft_thunks, @function
pft_thunks:
	.cfi_startproc
	.set	id, 0
	.rept	HOOKS_MAX
	.p2align 4
	endbr64
	mov	$id, %r11d
	jmp	pft_enter
	.set	id, id + 1
	.endr
	.cfi_endproc
	.size	pft_thunks, . - pft_thunks

// ---- enter ------------------------------------------------------------------------------------------
//
//   rsp -> r8 rdi rsi rdx rcx rax [return address] stack arguments
//                                 ^ slot
#define SAVED 48

	.p2align 6
	.type	pft_enter, @function
pft_enter:
	.cfi_startproc
	SAVE	%rax
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%rsi
	SAVE	%rdi
	SAVE	%r8
	LOAD_SELF
.Lenter_again:
	mov	SELF_HEAD(%rcx), %r8
	lea	SAVED(%rsp), %rsi
	sub	SELF_LOW(%rcx), %rsi		// rsi = offset of the slot; huge when it is not on this stack
	mov	%r8d, %eax			// floor
	cmp	%rax, %rsi
	jae	pft_enter_cold			// foreign, a tail call, or an abandoned call lies in the way
	mov	%r8, %rdi
	shr	$32, %rdi			// edi = ring position
	cmp	SELF_BEGIN_LIMIT(%rcx), %edi
	jns	pft_enter_cold			// no room, by a difference that may wrap
	cmp	SELF_BUSY(%rcx), %edi
	je	pft_enter_cold			// we interrupted a writer that will go on writing there
	mov	%edi, SELF_BUSY(%rcx)
	cmp	SELF_HEAD(%rcx), %r8
	jne	.Lenter_again

	mov	SELF_FRAMES(%rcx), %rax
	lea	(%rax, %rsi, 2), %rax		// the frame record
	mov	SAVED(%rsp), %rdx
	mov	%rdx, FRAME_RETURN_ADDRESS(%rax)
	mov	%rbx, FRAME_RBX(%rax)
	mov	%r11d, FRAME_WHAT(%rax)
	mov	%r8d, FRAME_OUTER(%rax)

	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%edi, %edx
	and	SELF_RING_MASK(%rcx), %edx
	add	SELF_RING(%rcx), %rdx		// the ring record
	mov	%rax, RECORD_TICKS(%rdx)
	mov	%r11d, RECORD_WHAT(%rdx)
	mov	%edi, RECORD_AT(%rdx)

	lea	16(%rdi), %edx
	shl	$32, %rdx
	lea	-8(%rsi), %eax			// the new floor
	or	%rax, %rdx
	mov	%r8, %rax
	cmpxchg	%rdx, SELF_HEAD(%rcx)
	jne	.Lenter_again			// a handler recorded in between
	mov	SELF_FRAMES(%rcx), %rax
	lea	(%rax, %rsi, 2), %rax
.Lenter_recorded:
	mov	%rax, %rbx
	.cfi_endproc
	.size	pft_enter, . - pft_enter

// ---- through and back -------------------------------------------------------------------------------
//
//   rsp -> rdx rax [slot]			after the return, rbx = the frame record
	.type	pft_through, @function
pft_through:
	RECORD_FRAME pft_through, pft_back, SAVED + 8
	lea	pft_originals(%rip), %rax
	mov	(%rax, %r11, 8), %r11
	pop	%r8
	DEPTH	48
	pop	%rdi
	DEPTH	40
	pop	%rsi
	DEPTH	32
	pop	%rdx
	DEPTH	24
	pop	%rcx
	DEPTH	16
	pop	%rax
	DEPTH	8
	add	$8, %rsp
	DEPTH	0
	call	*%r11
	.globl	pft_return
	.hidden	pft_return
pft_return:
	sub	$8, %rsp
	DEPTH	8
	push	%rax
	DEPTH	16
	push	%rdx
	DEPTH	24
	LOAD_SELF
.Lleave_again:
	mov	SELF_HEAD(%rcx), %r8
	lea	8(%rsp), %rsi			// slot - 8: the floor, if this call is the innermost
	sub	SELF_LOW(%rcx), %rsi
	mov	%r8d, %eax
	cmp	%rax, %rsi
	jne	pft_leave_cold
	mov	%r8, %rdi
	shr	$32, %rdi
	cmp	SELF_END_LIMIT(%rcx), %edi
	jns	pft_leave_cold
	cmp	SELF_BUSY(%rcx), %edi
	je	pft_leave_cold
	mov	%edi, SELF_BUSY(%rcx)
	cmp	SELF_HEAD(%rcx), %r8
	jne	.Lleave_again

	mov	FRAME_WHAT(%rbx), %r9d
	or	$PFT_END, %r9d
	mov	FRAME_OUTER(%rbx), %r10d
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	%edi, %edx
	and	SELF_RING_MASK(%rcx), %edx
	add	SELF_RING(%rcx), %rdx
	mov	%rax, RECORD_TICKS(%rdx)
	mov	%r9d, RECORD_WHAT(%rdx)
	mov	%edi, RECORD_AT(%rdx)

	lea	16(%rdi), %edx
	shl	$32, %rdx
	or	%r10, %rdx
	mov	%r8, %rax
	cmpxchg	%rdx, SELF_HEAD(%rcx)
	jne	.Lleave_again
.Lleave_recorded:
	mov	FRAME_RETURN_ADDRESS(%rbx), %rcx
	mov	%rcx, 16(%rsp)
	mov	FRAME_RBX(%rbx), %rbx
	RECORD_FRAME_END
	.size	pft_through, . - pft_through

	.type	pft_back, @function
pft_back:
	.cfi_startproc
	.cfi_def_cfa %rsp, 24
	RESTORE	%rdx
	RESTORE	%rax
	ret
	.cfi_endproc
	.size	pft_back, . - pft_back

// ---- slow paths -------------------------------------------------------------------------------------
//
// The C code behind them touches general registers only and needs no stack alignment. rax and rdx, which may
// hold the result, are saved; the callee has given back the others that matter.
	.type	pft_leave_cold, @function
pft_leave_cold:
	RECORD_FRAME pft_leave_cold, pft_enter_cold, 24
	mov	%rbx, %rdi
	lea	16(%rsp), %rsi
	mov	%rbp, %rdx
	call	pft_leave_slow
	jmp	.Lleave_recorded
	RECORD_FRAME_END
	.size	pft_leave_cold, . - pft_leave_cold

// Saves what pft_enter did not.
	.type	pft_enter_cold, @function
pft_enter_cold:
	.cfi_startproc
	.cfi_def_cfa %rsp, SAVED + 8
	SAVE	%r9
	SAVE	%r10
	SAVE	%r11
	mov	%r11d, %edi
	lea	SAVED + 24(%rsp), %rsi
	mov	%rbx, %rdx
	mov	%rbp, %rcx
	call	pft_enter_slow
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%r9
	test	%rax, %rax
	jne	.Lenter_recorded

	lea	pft_originals(%rip), %rax	// not recorded: as if nobody had been here
	mov	(%rax, %r11, 8), %r11
	RESTORE	%r8
	RESTORE	%rdi
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	jmp	*%r11
	.cfi_endproc
	.size	pft_enter_cold, . - pft_enter_cold

	.bss
	.p2align 6
	.globl	pft_originals
	.hidden	pft_originals
	.type	pft_originals, @object
	.size	pft_originals, 8 * HOOKS_MAX
pft_originals:
	.zero	8 * HOOKS_MAX

	.section .note.GNU-stack, "", @progbits
