// SPDX-License-Identifier: MIT
// The complete story of a diverted call, of which the trampoline holds the common case. Hot context, called
// by the trampoline alone. The one rule: the host's control flow never depends on whether recording works.
#include "shim/hot/frame.h"

#include <signal.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/clock.h"
#include "shim/hot/foreign.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"
#include "shim/hot/stacks.h"
#include "shim/hot/trampoline.h"
#include "shim/hot/trigger.h"
#include "shim/hot/walk.h"
#include "shim/hot/window.h"

#include "shim/hot/hot.h"

// What the trampoline knows of a call that begins.
struct call {
	uint32_t what;
	uintptr_t slot;
	uintptr_t rbx, rbp; // the caller's
};

#define PID_BITS 22 // Linux, PID_MAX_LIMIT

// Another in every forked child and in every window, so that calls that were open in the parent, or when the
// window closed, are known as not our own.
static uint32_t epoch(void)
{
	return pft_session->pid ^ pft_session_window(pft_session) >> 1 << PID_BITS;
}

static uintptr_t slot_content(uintptr_t slot)
{
	return *(const uintptr_t *)slot;
}

static uint32_t innermost(uint64_t head)
{
	return pft_head_floor(head) + 8;
}

static bool has_open_call(uint64_t head)
{
	return !(pft_head_floor(head) & 1);
}

// ---- where calls come from --------------------------------------------------------------------------

static uint32_t stack_at_begin(struct pft_self *self, uint32_t what, uintptr_t slot, uintptr_t rbp)
{
	return pft_stacks_at_begin(what & PFT_WHAT_ID) ? pft_walk(self, slot, rbp) : 0;
}

static uint32_t stack_at_end(struct pft_self *self, uint64_t began, uintptr_t slot, uintptr_t rbp)
{
	return pft_stacks_at_end() && pft_stacks_took_long(began) ? pft_walk(self, slot, rbp) : 0;
}

static uint32_t write_event(
	struct pft_self *self, uint32_t position, uint64_t ticks, uint32_t what, uint32_t stack)
{
	if (!stack)
		return pft_ring_write(self, position, ticks, what);
	position = pft_ring_write(self, position, ticks, what | PFT_STACK);
	return pft_ring_write_detail(self, position, 0, stack);
}

// ---- open calls -------------------------------------------------------------------------------------

// Records the end of the innermost call, if it still is the one at `offset`, and takes it off. False when a
// handler came in between, and that call may be over: look again.
static bool end_innermost(struct pft_self *self, uint64_t offset, uint32_t kind, uint32_t stack)
{
	bool room = pft_ring_admits_end(self);
	uint64_t head = room ? pft_ring_claim(self) : __atomic_load_n(&self->head, __ATOMIC_RELAXED);
	struct pft_frame *frame = pft_self_frame(self, offset);
	uint32_t position = pft_head_position(head);

	if (!has_open_call(head) || innermost(head) != offset)
		return false;
	if (room)
		position = write_event(
			self, position, pft_clock_ticks(), (frame->what & PFT_WHAT_ID) | kind, stack);
	if (!pft_ring_commit(self, head, position, frame->outer))
		return false;
	if (!room)
		pft_ring_drop(self, 1);
	else
		self->entry->other_slots += stack != 0;
	return true;
}

// The calls that lie below `offset` cannot be running any more, the stack above them is in use: control flow
// has left them without a return (longjmp, throw, a forced unwind).
static uint64_t unwind_below(struct pft_self *self, uint64_t offset)
{
	for (;;) {
		uint64_t head = __atomic_load_n(&self->head, __ATOMIC_RELAXED);

		if (!has_open_call(head) || innermost(head) >= offset)
			return head;
		end_innermost(self, innermost(head), PFT_UNWOUND, 0);
	}
}

// ---- foreign stacks ---------------------------------------------------------------------------------

static void keep_room(struct pft_self *self, struct pft_foreign_record *record)
{
	uint64_t word = __atomic_add_fetch(&self->foreign_open, 1, __ATOMIC_RELAXED);

	record->keeper = self;
	record->keeper_serial = (uint32_t)(word >> 32);
}

// The thread that keeps it may be another one, or may have ended.
static void give_room_back(const struct pft_foreign_record *record)
{
	uint64_t *kept = &record->keeper->foreign_open;
	uint64_t word = __atomic_load_n(kept, __ATOMIC_RELAXED);

	while ((uint32_t)(word >> 32) == record->keeper_serial && (uint32_t)word &&
		!__atomic_compare_exchange_n(kept, &word, word - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static bool is_of_this_process(const struct pft_frame *frame)
{
	return (frame->outer ^ pft_session->pid) << (32 - PID_BITS) == 0;
}

// The call of this record is over, or its stack was thrown away and its slot is used anew.
static void forget(struct pft_frame *frame)
{
	if (frame->what && is_of_this_process(frame))
		give_room_back(pft_foreign_record(frame));
	frame->what = 0;
}

static uint64_t named_slot(struct pft_frame *frame)
{
	return frame->slot | (uint64_t)pft_foreign_record(frame)->turn << PFT_TURN_SHIFT;
}

static void write_foreign(struct pft_self *self, struct pft_frame *frame, uint32_t what, uint32_t stack)
{
	uint64_t head;
	uint32_t position;

	if (stack)
		what |= PFT_STACK;
	do {
		uint64_t ticks;

		head = pft_ring_claim(self);
		ticks = pft_clock_ticks();
		if ((what & PFT_WHAT_KIND) == PFT_BEGIN)
			pft_foreign_record(frame)->began = ticks;
		position = pft_ring_write(self, pft_head_position(head), ticks, what | PFT_FOREIGN);
		position = pft_ring_write_detail(self, position, named_slot(frame), stack);
	} while (!pft_ring_commit(self, head, position, pft_head_floor(head)));
	self->entry->other_slots++;
}

static bool begin_foreign(struct pft_self *self, struct pft_frame *frame, uint32_t what, uintptr_t rbp)
{
	uint32_t stack = stack_at_begin(self, what, frame->slot, rbp);

	if (!pft_ring_admits_begin(self)) {
		pft_ring_drop(self, 2);
		return false;
	}
	pft_foreign_make_room();
	keep_room(self, pft_foreign_record(frame));
	frame->outer = epoch();
	pft_foreign_record(frame)->turn++;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); // a handler may leave here: what is open has a keeper
	frame->what = what;
	write_foreign(self, frame, what, stack);
	return true;
}

static struct pft_frame *enter_foreign(struct pft_self *self, const struct call *call)
{
	struct pft_frame *frame = pft_foreign_frame(call->slot);

	if (!frame || !pft_self_runs_on(self, call->slot))
		return NULL;
	forget(frame);
	frame->return_address = slot_content(call->slot);
	frame->rbx = call->rbx;
	return begin_foreign(self, frame, call->what, call->rbp) ? frame : NULL;
}

static void leave_foreign(struct pft_self *self, struct pft_frame *frame, uintptr_t rbp)
{
	uint32_t id = frame->what & PFT_WHAT_ID;
	uint64_t began = pft_foreign_record(frame)->began;
	bool is_ours = frame->what && frame->outer == epoch(); // recorded, here and in this window
	uint32_t stack = is_ours ? stack_at_end(self, began, frame->slot, rbp) : 0;

	forget(frame);
	if (!is_ours)
		return;
	if (!pft_ring_admits_end(self)) {
		pft_ring_drop(self, 1);
		return;
	}
	write_foreign(self, frame, id | PFT_END, stack);
	pft_trigger_meet(id, began, self->index);
}

// ---- native stack -----------------------------------------------------------------------------------

// An alternate signal stack may be part of the thread's own, above the call that the signal interrupted: that
// call is not over. sigaltstack(2) tells SS_ONSTACK from the stack pointer.
static bool is_on_alternate_stack(void)
{
	stack_t stack;

	return pft_sys2(SYS_sigaltstack, NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK);
}

static bool is_open_below(struct pft_self *self, uint64_t offset)
{
	uint64_t head = __atomic_load_n(&self->head, __ATOMIC_RELAXED);

	return has_open_call(head) && innermost(head) <= offset;
}

static struct pft_frame *enter_native(struct pft_self *self, const struct call *call)
{
	uint64_t offset = call->slot - self->low;
	struct pft_frame *frame = pft_self_frame(self, offset);
	uint64_t head;
	uint32_t position, stack;

	if (is_open_below(self, offset) && is_on_alternate_stack())
		return enter_foreign(self, call);
	// At its very slot the innermost call is over as well: had it jumped here, its return address would
	// be ours.
	head = unwind_below(self, offset + 1);
	// The record of a slot 8 bytes on would overlap (frame.h): keep this one elsewhere.
	if (has_open_call(head) && offset >= pft_head_floor(head))
		return enter_foreign(self, call);
	stack = stack_at_begin(self, call->what, call->slot, call->rbp);
	if (!pft_ring_admits_begin(self)) {
		pft_ring_drop(self, 2);
		return NULL;
	}
	do {
		head = pft_ring_claim(self);
		frame->return_address = slot_content(call->slot);
		frame->rbx = call->rbx;
		frame->what = call->what;
		frame->outer = pft_head_floor(head);
		frame->slot = pft_clock_ticks();
		position = write_event(self, pft_head_position(head), frame->slot, call->what, stack);
	} while (!pft_ring_commit(self, head, position, (uint32_t)offset - 8));
	self->entry->other_slots += stack != 0;
	return frame;
}

static void leave_native(struct pft_self *self, uint64_t offset, uintptr_t rbp)
{
	const struct pft_frame *frame = pft_self_frame(self, offset);
	uint64_t head = unwind_below(self, offset);
	uint32_t stack, id;
	uint64_t began;

	if (!has_open_call(head) || innermost(head) != offset)
		return; // begun before this session, or taken for abandoned and yet returning
	id = frame->what & PFT_WHAT_ID;
	began = frame->slot;
	stack = stack_at_end(self, began, self->low + offset, rbp);
	do {
		head = unwind_below(self, offset);
		if (!has_open_call(head) || innermost(head) != offset)
			return;
	} while (!end_innermost(self, offset, PFT_END, stack));
	pft_trigger_meet(id, began, self->index);
}

// One recorded function has jumped into another: its record serves on, the first slice ends, the next begins.
static void enter_native_tail(struct pft_self *self, struct pft_frame *frame, const struct call *call)
{
	uint64_t offset = call->slot - self->low;
	uint64_t head = unwind_below(self, offset);
	uint32_t position, begin_stack, end_stack;
	uint64_t ticks;

	if (!has_open_call(head) || innermost(head) != offset)
		return;
	begin_stack = stack_at_begin(self, call->what, call->slot, call->rbp);
	end_stack = stack_at_end(self, frame->slot, call->slot, call->rbp);
	if (!pft_ring_admits_begin(self)) {
		pft_ring_drop(self, 2);
		return;
	}
	do {
		head = pft_ring_claim(self);
		ticks = pft_clock_ticks();
		position = write_event(self, pft_head_position(head), ticks,
			(frame->what & PFT_WHAT_ID) | PFT_END, end_stack);
		position = write_event(self, position, ticks, call->what, begin_stack);
	} while (!pft_ring_commit(self, head, position, pft_head_floor(head)));
	self->entry->other_slots += (begin_stack != 0) + (end_stack != 0);
	pft_trigger_meet(frame->what & PFT_WHAT_ID, frame->slot, self->index);
	frame->what = call->what;
	frame->slot = ticks;
}

// ---- calls ------------------------------------------------------------------------------------------

static bool is_native_frame(struct pft_self *self, const struct pft_frame *frame, uintptr_t slot)
{
	return pft_self_is_native(self, slot) && frame == pft_self_frame(self, slot - self->low);
}

// The callee-saved rbx of a function that jumps away is what it was at its entry: its record.
static struct pft_frame *enter_tail(struct pft_self *self, const struct call *call)
{
	struct pft_frame *frame = (struct pft_frame *)call->rbx;

	if (!self)
		return frame;
	if (is_native_frame(self, frame, call->slot)) {
		enter_native_tail(self, frame, call);
	} else if (frame->slot == call->slot) {
		leave_foreign(self, frame, call->rbp);
		begin_foreign(self, frame, call->what, call->rbp);
	}
	return frame;
}

struct pft_frame *pft_enter_slow(uint32_t what, uintptr_t slot, uintptr_t rbx, uintptr_t rbp)
{
	const struct call call = {what, slot, rbx, rbp};
	struct pft_self *self = pft_self_get();

	if (self && pft_window_watches())
		pft_window_meet(what & PFT_WHAT_ID);
	if (slot_content(slot) == (uintptr_t)pft_return)
		return enter_tail(self, &call);
	if (!self)
		return NULL;
	if (pft_self_is_native(self, slot))
		return enter_native(self, &call);
	return enter_foreign(self, &call);
}

void pft_leave_slow(struct pft_frame *frame, uintptr_t slot, uintptr_t rbp)
{
	struct pft_self *self = pft_self_get();

	if (!self)
		return;
	if (is_native_frame(self, frame, slot))
		leave_native(self, slot - self->low, rbp);
	else if (frame->slot == slot)
		leave_foreign(self, frame, rbp);
}
