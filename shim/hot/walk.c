// SPDX-License-Identifier: MIT
// Walking a stack by the rules that are kept for its code: see walk.h. Hot context. The rule: each step leads
// up the stack, so every walk ends; only the kernel's own frame of a signal may lead anywhere.
#include "shim/hot/walk.h"

#include <linux/errno.h>
#include <sys/uio.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/foreign.h"
#include "shim/hot/learn.h"
#include "shim/hot/rules.h"
#include "shim/hot/stacks.h"
#include "shim/hot/trampoline.h"

#include "shim/hot/hot.h"

#define ADDRESS_MASK ((UINT64_C(1) << PFT_MAPPING_SHIFT) - 1)

// A handler that takes a stack in the middle uses the same buffer: then all is done anew.
#define ATTEMPTS 3

struct walk {
	struct pft_self *self;
	uintptr_t start; // the slot that it began at
	uintptr_t address; // of an instruction of the frame's code
	uintptr_t sp, bp;
	uint32_t floor; // of the recorded calls further up
};

// ---- reading ----------------------------------------------------------------------------------------

// The kernel copies the set before it looks at the first argument: see shim/objects.c.
static bool is_readable(uintptr_t address)
{
	return pft_sys4(SYS_rt_sigprocmask, -1, address, NULL, 8) != -EFAULT;
}

// The thread's own stack is there from where it was found to be, up to its upper end.
static bool reaches(struct pft_self *self, uintptr_t address)
{
	struct pft_seat *seat = pft_self_seat(self);

	while (seat->stack_known > address) {
		uintptr_t page = (seat->stack_known - 1) & -(uintptr_t)PFT_PAGE;

		if (!is_readable(page))
			return false;
		seat->stack_known = page;
	}
	return true;
}

// process_vm_readv(2) of oneself needs no permission (kernel/ptrace.c, __ptrace_may_access).
static bool read_far(uintptr_t address, uintptr_t *word)
{
	struct iovec to = {word, sizeof(*word)}, from = {(void *)address, sizeof(*word)};

	return pft_sys6(SYS_process_vm_readv, pft_session->pid, (long)&to, 1, (long)&from, 1, 0) ==
	       sizeof(*word);
}

static bool read_word(const struct walk *walk, uintptr_t address, uintptr_t *word)
{
	if (address % sizeof(*word) != 0)
		return false;
	if (pft_self_is_native(walk->self, address) ? !reaches(walk->self, address)
						    : (address ^ walk->start) >= PFT_PAGE)
		return read_far(address, word);
	*word = *(const uintptr_t *)address;
	return true;
}

// ---- our own frames ---------------------------------------------------------------------------------

// Whether the call at `offset` is one that is recorded and open. They are met in their order.
static bool is_open_at(struct walk *walk, uint64_t offset)
{
	while (!(walk->floor & 1) && walk->floor + UINT64_C(8) < offset) {
		uint32_t outer = pft_self_frame(walk->self, walk->floor + UINT64_C(8))->outer;

		if (outer <= walk->floor)
			return false;
		walk->floor = outer;
	}
	return !(walk->floor & 1) && walk->floor + UINT64_C(8) == offset;
}

// The record of the call that returns through us at `slot`, or NULL. Its end may have been recorded just now;
// then a record by place is right as long as no other has a claim.
static const struct pft_frame *record_of(struct walk *walk, uintptr_t slot)
{
	bool native = pft_self_is_native(walk->self, slot);
	uint64_t offset = slot - walk->self->low;
	const struct pft_frame *foreign;

	if (native && is_open_at(walk, offset))
		return pft_self_frame(walk->self, offset);
	foreign = pft_foreign_find(slot);
	if (native && (!foreign || !foreign->what))
		return pft_self_frame(walk->self, offset);
	return foreign;
}

static bool read_return(struct walk *walk, uintptr_t slot, uintptr_t *address)
{
	const struct pft_frame *record;

	if (!read_word(walk, slot, address))
		return false;
	if (*address != (uintptr_t)pft_return)
		return true;
	record = record_of(walk, slot);
	if (record)
		*address = record->return_address;
	return record && *address != (uintptr_t)pft_return;
}

// ---- steps ------------------------------------------------------------------------------------------

// Goes to who called at `slot`, the stack pointer being above it before the call. A call may be its
// function's last instruction: the address before the one that it returns to is in it for certain.
static bool go_to_caller(struct walk *walk, uintptr_t slot)
{
	uintptr_t address;

	if (!read_return(walk, slot, &address) || address == 0)
		return false;
	walk->address = address - 1;
	walk->sp = slot + 8;
	return true;
}

static bool step_call(struct walk *walk, struct pft_rule rule)
{
	uintptr_t cfa = (rule.kind == PFT_RULE_BP ? walk->bp : walk->sp) + (uintptr_t)rule.cfa;

	// Where ours makes its call, it has nothing on the stack.
	if (cfa < walk->sp || (cfa == walk->sp && rule.kind != PFT_RULE_OWN))
		return false;
	if (rule.bp && !read_word(walk, cfa + (uintptr_t)rule.bp, &walk->bp))
		return false;
	return go_to_caller(walk, cfa - 8);
}

static bool step_aligned(struct walk *walk, struct pft_rule rule)
{
	uintptr_t cfa;

	return read_word(walk, walk->bp - (uintptr_t)rule.cfa, &cfa) && cfa > walk->sp &&
	       read_word(walk, walk->bp, &walk->bp) && go_to_caller(walk, cfa - 8);
}

static bool step_signal(struct walk *walk)
{
	uintptr_t frame = walk->sp;

	return read_word(walk, frame + PFT_SIGNAL_BP, &walk->bp) &&
	       read_word(walk, frame + PFT_SIGNAL_SP, &walk->sp) &&
	       read_word(walk, frame + PFT_SIGNAL_IP, &walk->address);
}

static bool step(struct walk *walk, struct pft_rule rule)
{
	switch (rule.kind) {
	case PFT_RULE_SP:
	case PFT_RULE_BP:
	case PFT_RULE_OWN:
		return step_call(walk, rule);
	case PFT_RULE_ALIGNED:
		return step_aligned(walk, rule);
	case PFT_RULE_SIGNAL:
		return step_signal(walk);
	default:
		return false;
	}
}

// ---- the walk ---------------------------------------------------------------------------------------

// Fills the codes of the stack, innermost first. Their count.
static uint32_t collect(struct walk *walk, uint64_t *codes)
{
	uint32_t count = 0;
	bool more = true;

	// Frames of ours are few, but a bound must not depend on that.
	for (uint32_t steps = 0; more && steps < 2 * PFT_STACK_FRAMES && count < PFT_STACK_FRAMES; steps++) {
		struct pft_rule rule = pft_rule_unpack(pft_learn(walk->address));

		if (rule.mapping && rule.kind != PFT_RULE_OWN)
			codes[count++] = (walk->address & ADDRESS_MASK) | (uint64_t)rule.mapping
										  << PFT_MAPPING_SHIFT;
		more = step(walk, rule);
	}
	return count;
}

// Whether nobody else has filled the buffer since `turn`.
static bool is_ours(const struct pft_seat *seat, uint32_t turn)
{
	return __atomic_load_n(&seat->stack_turn, __ATOMIC_RELAXED) == turn;
}

// From the outermost inwards; false when the buffer is not ours any more.
static bool keep(const struct pft_seat *seat, uint32_t turn, uint32_t count, uint32_t *number)
{
	*number = 0;
	while (count-- > 0) {
		uint64_t code = __atomic_load_n(&seat->codes[count], __ATOMIC_RELAXED);

		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (!is_ours(seat, turn))
			return false;
		*number = pft_stacks_add(code, *number);
		if (!*number) {
			__atomic_add_fetch(&pft_session->stacks_cut, 1, __ATOMIC_RELAXED);
			return true;
		}
	}
	return true;
}

uint32_t pft_walk(struct pft_self *self, uintptr_t slot, uintptr_t bp)
{
	struct pft_seat *seat = pft_self_seat(self);
	uint32_t number = 0;

	for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
		uint32_t turn = __atomic_add_fetch(&seat->stack_turn, 1, __ATOMIC_RELAXED);
		struct walk walk = {.self = self,
			.start = slot,
			.bp = bp,
			.floor = pft_head_floor(__atomic_load_n(&self->head, __ATOMIC_RELAXED))};

		if (!go_to_caller(&walk, slot))
			return 0;
		if (keep(seat, turn, collect(&walk, seat->codes), &number))
			return number;
	}
	return 0;
}
