// SPDX-License-Identifier: MIT
// The slow path of a ring: reckoning how far the thread may write, waiting, dropping, marking the gap.
// Hot context. The one rule: limits only ever name room that is free, whatever interrupted the reckoning.
#include "shim/hot/ring.h"

#include <linux/futex.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/clock.h"
#include "shim/hot/local_x86_64.h"
#include "shim/hot/signals.h"
#include "shim/hot/stacks.h"
#include "shim/hot/trigger.h"
#include "shim/hot/window.h"
#include "shim/hot/hot.h"

#define SLOT ((uint32_t)sizeof(struct pft_record))

// Kept free behind the end limit for what is more than one slot: a tail call (three slots with a detail), a
// foreign end (two), a gap or a wait before an event, and a hole before each.
#define MARGIN (24 * SLOT)

static struct pft_record *record_at(const struct pft_self *self, uint32_t position)
{
	return (struct pft_record *)(self->ring + (position & self->ring_mask));
}

// `at` is stored last: who finds it right finds the rest right (session.h).
uint32_t pft_ring_write(struct pft_self *self, uint32_t position, uint64_t ticks, uint32_t what)
{
	struct pft_record *record = record_at(self, position);

	record->ticks = ticks;
	record->what = what;
	__atomic_store_n(&record->at, position, __ATOMIC_RELEASE);
	return position + SLOT;
}

uint32_t pft_ring_write_detail(struct pft_self *self, uint32_t position, uint64_t slot, uint32_t stack)
{
	struct pft_detail *detail = (struct pft_detail *)record_at(self, position);

	detail->slot = slot;
	detail->stack = stack;
	__atomic_store_n(&detail->at, position | PFT_SECOND, __ATOMIC_RELEASE);
	return position + SLOT;
}

static void leave_hole(struct pft_self *self, uint64_t head)
{
	uint32_t marker = pft_head_position(head) + PFT_HOLE_SLOTS * SLOT;
	uint32_t behind = pft_ring_write(self, marker, 0, PFT_HOLE);

	if (pft_ring_commit(self, head, behind, pft_head_floor(head)))
		self->entry->other_slots += PFT_HOLE_SLOTS + 1;
}

uint64_t pft_ring_claim(struct pft_self *self)
{
	for (;;) {
		uint64_t head = __atomic_load_n(&self->head, __ATOMIC_RELAXED);

		if (self->busy == pft_head_position(head)) {
			leave_hole(self, head);
			continue;
		}
		__atomic_store_n(&self->busy, pft_head_position(head), __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&self->head, __ATOMIC_RELAXED) == head)
			return head;
	}
}

bool pft_ring_commit(struct pft_self *self, uint64_t old, uint32_t position, uint32_t floor)
{
	return pft_local_swap(&self->head, old, pft_head_of(position, floor));
}

void pft_ring_wake_flusher(void)
{
	uint32_t *word = &pft_session->flusher_asleep;
	uint32_t asleep = __atomic_load_n(word, __ATOMIC_SEQ_CST);

	if (asleep == PFT_ASLEEP_NONE)
		return;
	if (__atomic_compare_exchange_n(
		    word, &asleep, PFT_ASLEEP_NONE, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		pft_sys_futex(word, FUTEX_WAKE, 1, NULL);
}

// Half of the free room is used up, or the flusher went to sleep and asks to be woken. A ring that keeps the
// newest has room always: it is enough that the flusher looks around now and then.
static void tell_flusher(void)
{
	if (pft_session->overflow != PFT_OVERFLOW_OVERWRITE ||
		__atomic_load_n(&pft_session->flusher_asleep, __ATOMIC_SEQ_CST) == PFT_ASLEEP_LONG)
		pft_ring_wake_flusher();
}

// An event may say where the call came from.
static uint32_t event_bytes(void)
{
	return pft_stacks_on() ? 2 * SLOT : SLOT;
}

// Open native calls, up to `most`.
static uint32_t open_calls(const struct pft_self *self, uint32_t floor, uint32_t most)
{
	uint32_t count = 0;

	while (!(floor & 1) && count < most) {
		const struct pft_frame *frame =
			(const struct pft_frame *)(self->frames + 2 * ((uint64_t)floor + 8));

		floor = frame->outer;
		count++;
	}
	return count;
}

static void arm(struct pft_self *self, uint32_t position)
{
	__atomic_store_n(&self->begin_limit, position, __ATOMIC_SEQ_CST);
	__atomic_store_n(&self->end_limit, position, __ATOMIC_SEQ_CST);
}

void pft_ring_arm_all(void)
{
	struct pft_self *self;

	for (uint32_t index = 0; (self = pft_self_from(&index)); index++)
		arm(self, pft_head_position(__atomic_load_n(&self->head, __ATOMIC_ACQUIRE)));
}

static uint32_t open_foreign_calls(const struct pft_self *self, uint32_t most)
{
	uint32_t count = (uint32_t)__atomic_load_n(&self->foreign_open, __ATOMIC_RELAXED);

	return count < most ? count : most;
}

// The position up to which events may go.
static uint32_t end_of_room(const struct pft_self *self, uint32_t position)
{
	uint32_t tail = __atomic_load_n(&self->tail, __ATOMIC_ACQUIRE);

	if (pft_session->overflow == PFT_OVERFLOW_OVERWRITE)
		tail = position;
	return tail + self->ring_mask + 1 - MARGIN;
}

// What is left over once every open call has room for its end; less than nothing when that has been eaten up.
// Beyond half of the ring the ends of deep recursion have no room kept; see pft_ring_admits_end.
static int32_t spare_room(const struct pft_self *self, uint64_t head)
{
	uint32_t position = pft_head_position(head);
	uint32_t half = (self->ring_mask + 1) / 2;
	uint32_t kept = open_calls(self, pft_head_floor(head), half / SLOT) * event_bytes() +
			open_foreign_calls(self, half / 2 / SLOT) * 2 * SLOT;

	return (int32_t)(end_of_room(self, position) - position - (kept < half ? kept : half));
}

// Whether a gap can be said with what it comes before, without the room that is kept for the ends of open
// calls: ends may come with a gap before each, and would be lost. It can wait until the next begin.
static bool has_gap_room(const struct pft_self *self)
{
	return spare_room(self, __atomic_load_n(&self->head, __ATOMIC_RELAXED)) >= (int32_t)MARGIN;
}

// Ends may go on until the ring is full; begins only for half of what is to spare: then each begin in that
// half can have its own end in the other. What was dropped is said before the next begin. A clock that is
// read by a call, stacks, a trigger, and a window that watches calls or is closed, leave no room before the
// limits, so that every event comes here.
static bool has_begin_room(struct pft_self *self)
{
	uint64_t head = __atomic_load_n(&self->head, __ATOMIC_RELAXED);
	uint32_t position = pft_head_position(head);
	uint32_t end = end_of_room(self, position);
	int32_t room = spare_room(self, head);
	bool gap_waits = self->dropped_unsaid && !has_gap_room(self);
	bool all_are_slow = !pft_clock_is_tsc() || pft_stacks_on() || pft_trigger_is_on();

	room = room > 0 && !gap_waits ? (room / 2) & -(int32_t)SLOT : 0;
	if (!all_are_slow) {
		__atomic_store_n(&self->end_limit, end, __ATOMIC_RELAXED);
		__atomic_store_n(&self->begin_limit, position + (uint32_t)room, __ATOMIC_SEQ_CST);
	}
	if (all_are_slow || pft_window_watches() || pft_window_is_closed(pft_session_window(pft_session)))
		arm(self, position);
	return room >= (int32_t)event_bytes();
}

static bool has_end_room(struct pft_self *self)
{
	uint32_t position = pft_head_position(__atomic_load_n(&self->head, __ATOMIC_RELAXED));
	uint32_t tail = __atomic_load_n(&self->tail, __ATOMIC_ACQUIRE);

	has_begin_room(self); // renews both limits
	return pft_session->overflow == PFT_OVERFLOW_OVERWRITE ||
	       (int32_t)(position - (tail + self->ring_mask + 1 - MARGIN)) < 0;
}

static bool write_mark(struct pft_self *self, uint32_t kind, uint64_t dropped)
{
	uint64_t head = pft_ring_claim(self);
	uint32_t position = pft_ring_write(self, pft_head_position(head), pft_clock_ticks(), kind);
	struct pft_gap *gap = (struct pft_gap *)record_at(self, position);

	gap->dropped = dropped;
	gap->depth = open_calls(self, pft_head_floor(head), UINT32_MAX);
	__atomic_store_n(&gap->at, position | PFT_SECOND, __ATOMIC_RELEASE);
	return pft_ring_commit(self, head, position + SLOT, pft_head_floor(head));
}

// Events were dropped and now there is room: says how many, and how many calls are open whose ends will come.
// Signals are held: a handler between the commit and the count would say the same gap again.
static void say_gap(struct pft_self *self)
{
	uint64_t signals = pft_signals_hold();
	uint64_t dropped = self->dropped_unsaid; // perhaps a handler has said it

	if (dropped) {
		while (!write_mark(self, PFT_GAP, dropped))
			;
		self->dropped_unsaid -= dropped;
		self->entry->other_slots += 2;
	}
	pft_signals_release(signals);
}

// The window has been closed since the last record: how many calls are open whose ends will come. That cannot
// wait: the next end would be taken for another call's.
static void say_pause(struct pft_self *self, uint32_t window)
{
	uint64_t signals = pft_signals_hold();

	if (self->window != window) {
		while (!write_mark(self, PFT_PAUSE, 0))
			;
		self->window = window;
		self->entry->other_slots += 2;
	}
	pft_signals_release(signals);
}

static void say_wait(struct pft_self *self, uint64_t start_ticks)
{
	uint64_t head;
	uint32_t position;

	do {
		head = pft_ring_claim(self);
		position =
			pft_ring_write(self, pft_head_position(head), start_ticks, PFT_HOOK_WAIT | PFT_BEGIN);
		position = pft_ring_write(self, position, pft_clock_ticks(), PFT_HOOK_WAIT | PFT_END);
	} while (!pft_ring_commit(self, head, position, pft_head_floor(head)));
}

static uint32_t rooms; // that were given back, to any thread. writer: flusher
static uint32_t hopeless_at; // so many, and no more to come, + 1; 0: there is hope. writers: all

static uint32_t vain_at; // likewise, and somebody has waited for them

static uint32_t rooms_now(void)
{
	return __atomic_load_n(&rooms, __ATOMIC_RELAXED);
}

void pft_ring_expect_room(void)
{
	__atomic_store_n(&rooms, rooms_now() + 1, __ATOMIC_RELAXED);
}

void pft_ring_expect_none(void)
{
	__atomic_store_n(&hopeless_at, rooms_now() + 1, __ATOMIC_RELAXED);
}

static bool is_hopeless(void)
{
	return __atomic_load_n(&hopeless_at, __ATOMIC_RELAXED) == rooms_now() + 1;
}

bool pft_ring_waited_in_vain(void)
{
	return __atomic_load_n(&vain_at, __ATOMIC_RELAXED) == rooms_now() + 1;
}

static bool is_recording(void)
{
	return __atomic_load_n(&pft_process.recording, __ATOMIC_RELAXED) == PFT_RECORDING_ON;
}

// Sleeps until `has_room` or the bound. The flusher moves the tail, then looks at `waiting`; we set
// `waiting`, then look at the tail: one of the two sees the other.
static bool wait_for_room(struct pft_self *self, bool (*has_room)(struct pft_self *))
{
	const struct timespec nap = {0, 100000000};
	uint64_t start_ticks = pft_clock_ticks();
	uint64_t start_ns = pft_clock_ns(CLOCK_MONOTONIC);
	uint32_t rooms_before = rooms_now();

	while (is_recording() && !is_hopeless()) {
		uint32_t tail = __atomic_load_n(&self->tail, __ATOMIC_ACQUIRE);

		__atomic_store_n(&self->waiting, 1, __ATOMIC_SEQ_CST);
		if (has_room(self)) {
			__atomic_store_n(&self->waiting, 0, __ATOMIC_RELAXED);
			say_wait(self, start_ticks);
			return true;
		}
		pft_ring_wake_flusher();
		if (pft_clock_ns(CLOCK_MONOTONIC) - start_ns > PFT_WAIT_BOUND_NS)
			break;
		pft_sys_futex(&self->tail, FUTEX_WAIT_PRIVATE, tail, &nap);
	}
	__atomic_store_n(&self->waiting, 0, __ATOMIC_RELAXED);
	self->gave_up_tail = __atomic_load_n(&self->tail, __ATOMIC_RELAXED);
	self->gave_up = 1;
	if (is_recording() && !is_hopeless() && rooms_now() == rooms_before) {
		__atomic_store_n(&vain_at, rooms_before + 1, __ATOMIC_RELAXED);
		pft_ring_expect_none();
	}
	return false;
}

static bool may_wait(struct pft_self *self)
{
	if (pft_session->overflow != PFT_OVERFLOW_WAIT)
		return false;
	if (self->gave_up && self->gave_up_tail != __atomic_load_n(&self->tail, __ATOMIC_RELAXED))
		self->gave_up = 0;
	return !self->gave_up && !is_hopeless();
}

static bool admits(struct pft_self *self, bool (*has_room)(struct pft_self *))
{
	uint32_t window = pft_session_window(pft_session);
	bool room;

	self->shut = pft_window_is_closed(window);
	if (self->shut)
		return false;
	room = has_room(self);
	tell_flusher();
	if (!room && may_wait(self))
		room = wait_for_room(self, has_room);
	if (room && self->dropped_unsaid && has_gap_room(self))
		say_gap(self);
	if (room && self->window != window)
		say_pause(self, window);
	return room;
}

bool pft_ring_admits_begin(struct pft_self *self)
{
	return admits(self, has_begin_room);
}

bool pft_ring_admits_end(struct pft_self *self)
{
	return admits(self, has_end_room);
}

void pft_ring_drop(struct pft_self *self, unsigned events)
{
	if (!is_recording())
		return; // it ended while we waited: this is after it
	if (self->shut) {
		pft_window_skip(events);
		return;
	}
	self->dropped_unsaid += events;
	self->entry->dropped += events;
}

void pft_ring_start(struct pft_self *self, uint32_t position, uint32_t floor)
{
	__atomic_store_n(&self->busy, position - 1, __ATOMIC_RELAXED); // no slot is there
	__atomic_store_n(&self->tail, position, __ATOMIC_RELAXED);
	__atomic_store_n(&self->end_limit, position, __ATOMIC_RELAXED);
	__atomic_store_n(&self->begin_limit, position, __ATOMIC_RELAXED);
	__atomic_store_n(&self->head, pft_head_of(position, floor), __ATOMIC_RELEASE);
}
