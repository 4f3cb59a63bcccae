// SPDX-License-Identifier: MIT
// Frame records of calls on foreign stacks: coroutines, alternate signal stacks, anything that is not the
// stack that the thread was born with. Hot context.
//
// There the order of returns is free, and a call may return on another thread than the one that made it. So
// records are kept by slot, for the whole process: a slot has one record for ever, and a new call at it
// replaces an abandoned one. Records are never freed; there are as many as there are distinct slots.
#ifndef PFT_FOREIGN_H
#define PFT_FOREIGN_H

#include "shim/hot/frame.h"

struct pft_self;

struct pft_foreign_record {
	struct pft_frame frame; // first: the trampoline knows no more than its address
	struct pft_self *keeper; // block of the thread that keeps room for the end of the open call
	uint32_t keeper_serial; // low half: tells that thread from a later one
	uint8_t turn; // counts the begins at this slot, and names the call by that (session.h)
	uint64_t began; // when the open call did; stacks.h asks
};

// The record of `slot`, made when there is none yet. NULL when the kernel gives no memory.
struct pft_frame *pft_foreign_frame(uintptr_t slot);

// The same, or NULL when there is none.
struct pft_frame *pft_foreign_find(uintptr_t slot);

// Makes room in the commit records of this process for calls that are open on foreign stacks. The first call
// on one asks for it; where the memory is not there, the encoder does without.
void pft_foreign_make_room(void);

// What belongs to a frame record that one of these has returned.
static inline struct pft_foreign_record *pft_foreign_record(struct pft_frame *frame)
{
	return (struct pft_foreign_record *)frame;
}

#endif
