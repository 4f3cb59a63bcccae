// SPDX-License-Identifier: MIT
// Frame records: where a diverted call returns to. Hot context.
//
// The trampoline takes the caller's return address off the stack, so it must be kept elsewhere. A record's
// place is computed from the address of the return-address slot, two bytes of record for one byte of stack:
// no stack pointer of our own has to be kept in step, and a signal handler that interrupts us uses other
// records because it uses other slots. By the psABI (3.2.2) the slots of two live calls are 16 bytes apart.
//
//        thread stack                    frame records of this thread (private memory)
//   high +-----------+             high' +--------------------------+
//        | slot      |  ------------->   | return address, rbx, ... |   frames + 2 * (slot - low)
//        |           |                   |                          |
//    low +-----------+              low' +--------------------------+
//
// Slots elsewhere (coroutines, signal stacks, hand-misaligned calls) have records in the table of foreign.h.
#ifndef PFT_FRAME_H
#define PFT_FRAME_H

#include <stddef.h>
#include <stdint.h>

struct pft_frame {
	uintptr_t return_address; // the caller's; unwind tables read it through rbx, see the trampoline
	uintptr_t rbx; // the caller's
	uint32_t what; // of the begin record
	uint32_t outer; // the floor to return to: names the enclosing open call
	uintptr_t slot; // of foreign records; else when the call began, if that is asked for (stacks.h)
};

_Static_assert(sizeof(struct pft_frame) == 32, "two bytes of record for one of stack, slots 16 apart");
_Static_assert(offsetof(struct pft_frame, return_address) == 0, "trampoline: unwind expression *[rbx]");
_Static_assert(offsetof(struct pft_frame, rbx) == 8, "trampoline: unwind expression [rbx + 8]");
_Static_assert(offsetof(struct pft_frame, what) == 16, "trampoline: FRAME_WHAT");
_Static_assert(offsetof(struct pft_frame, outer) == 20, "trampoline: FRAME_OUTER");

// Called by the trampoline when its own few instructions do not suffice: no room in the ring, first event of
// a thread or of a forked child, an abandoned call above, a tail call, a foreign stack, a clock that is read
// by a call. Fills a record whose return address has been put in it and records the begin. The record that
// the trampoline shall return through, or NULL: this call is not recorded, go straight to the original.
// `rbp` is the caller's.
struct pft_frame *pft_enter_slow(uint32_t what, uintptr_t slot, uintptr_t rbx, uintptr_t rbp);

// Records the end of the call whose record this is; the return is about to happen at `slot`.
void pft_leave_slow(struct pft_frame *frame, uintptr_t slot, uintptr_t rbp);

#endif
