// SPDX-License-Identifier: MIT
// The trampoline: neither side of a diverted call can tell that there was anything between them, whichever
// way through it is taken.
#include "shim/hot/trampoline.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>
#include <unwind.h>

#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "tests/unit/recording.h"
#include "tests/unit/registers.h"
#include "tests/unit/seated.h"

// Indirect branches that the compiler must not turn into jumps, or resolve.
typedef long (*volatile function)(long);

static function hooked_leaf, hooked_middle, hooked_outer;
static struct registers direct_entered, direct_returned;

static long leaf(long number)
{
	return number + 1;
}

static long middle(long number)
{
	return hooked_leaf(number) * 10;
}

static long outer(long number)
{
	return hooked_middle(number) + hooked_leaf(number);
}

static void start(enum pft_clock clock)
{
	seated_start(clock);
	hooked_leaf = seated_hook(leaf);
	hooked_middle = seated_hook(middle);
	hooked_outer = seated_hook(outer);
}

static void call_hooked_leaf(void)
{
	hooked_leaf(0);
}

// ---- what is recorded -------------------------------------------------------------------------------

Test(trampoline, records_where_a_call_begins_and_ends)
{
	start(PFT_CLOCK_TSC);
	cr_assert_eq(hooked_leaf(1), 2);
	cr_assert_str_eq(seated_records(), "+a -a");
}

Test(trampoline, records_calls_within_calls)
{
	start(PFT_CLOCK_TSC);
	cr_assert_eq(hooked_outer(1), 22);
	cr_assert_str_eq(seated_records(), "+c +b +a -a -b +a -a -c");
}

Test(trampoline, records_the_same_on_the_slow_path)
{
	start(PFT_CLOCK_TSC);
	seated_arm();
	cr_assert_eq(hooked_outer(1), 22);
	cr_assert_str_eq(seated_records(), "+c +b +a -a -b +a -a -c");
}

Test(trampoline, records_the_same_when_the_clock_is_read_by_a_call)
{
	uint64_t before, after;

	start(PFT_CLOCK_MONOTONIC);
	before = pft_clock_ns(CLOCK_MONOTONIC);
	cr_assert_eq(hooked_outer(1), 22);
	after = pft_clock_ns(CLOCK_MONOTONIC);
	cr_assert_str_eq(seated_records(), "+c +b +a -a -b +a -a -c");
	for (uint32_t at = 0; at < 8 * 16; at += 16) {
		cr_assert_geq(pft_session_record(pft_session, 0, at)->ticks, before);
		cr_assert_leq(pft_session_record(pft_session, 0, at)->ticks, after);
	}
}

Test(trampoline, has_as_many_thunks_as_there_can_be_hooks)
{
	const uint32_t last = PFT_HOOKS_MAX - 1;
	function hooked;

	start(PFT_CLOCK_TSC);
	pft_session->hooks = PFT_HOOKS_MAX;
	pft_originals[last] = leaf;
	hooked = (function)pft_thunk(last);
	cr_assert_eq(hooked(1), 2);
	cr_assert_eq(pft_session_record(pft_session, 0, 0)->what, last | PFT_BEGIN);
	cr_assert_eq(pft_session_record(pft_session, 0, 16)->what, last | PFT_END);
}

Test(trampoline, goes_straight_to_the_function_when_nothing_is_recorded)
{
	start(PFT_CLOCK_TSC);
	seated_fill(call_hooked_leaf);
	cr_assert_eq(hooked_outer(1), 22);
	cr_assert_str_eq(seated_records(), "");
	cr_assert_eq(pft_self->entry->dropped, 2 + 8);
	pft_process.recording = PFT_RECORDING_STOPPED;
	cr_assert_eq(hooked_outer(1), 22);
	cr_assert_eq(pft_self->entry->dropped, 2 + 8, "what comes after the end is not counted");
}

// Its own begin is seen by nobody, so its end must not be.
static long stops_recording(long number)
{
	pft_process.recording = PFT_RECORDING_STOPPED;
	return number;
}

Test(trampoline, leads_back_a_call_during_which_recording_stopped)
{
	function hooked;

	start(PFT_CLOCK_MONOTONIC);
	hooked = seated_hook(stops_recording);
	cr_assert_eq(hooked(5), 5);
	cr_assert_str_eq(seated_records(), "+d");
}

// The flusher sends the next begin and the next end to the slow path before it sleeps for good.
static unsigned calls;

static void sleep_until_the_flusher_sleeps(void)
{
	nanosleep(&(struct timespec){0, 500000000}, NULL);
}

static long is_in_the_file(long number)
{
	cr_assert(recording_await("work", ++calls), "the begin of call %u does not come", calls);
	sleep_until_the_flusher_sleeps();
	return number;
}

static bool await_ends(unsigned ends)
{
	unsigned turns = 1000;

	while (recording_ends() < ends && --turns)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	return turns;
}

Test(trampoline, wakes_a_flusher_that_sleeps, .fini = recording_clean)
{
	uint32_t work;
	function hooked;

	recording_make();
	work = recording_hook("work");
	recording_start();
	pft_originals[work] = is_in_the_file;
	hooked = (function)pft_thunk(work);
	for (unsigned i = 1; i <= 2; i++) {
		hooked(1);
		cr_assert(await_ends(i), "the end of call %u does not come", i);
		sleep_until_the_flusher_sleeps();
	}
}

// ---- registers --------------------------------------------------------------------------------------

static void call_directly(void)
{
	registers_fill();
	registers_call(registers_callee);
	direct_entered = registers_entered;
	direct_returned = registers_returned;
	memset(&registers_entered, 0, sizeof(registers_entered));
	memset(&registers_returned, 0, sizeof(registers_returned));
	registers_fill();
}

#define ASSERT_SAME(set, reference, field)                                                                   \
	cr_assert_eq((set).field, (reference).field, #field ": %lx, not %lx", (set).field, (reference).field)

#define DIRECTION UINT64_C(0x400) // the flag that string instructions look at: clear at calls and returns

// r11 is the one that the linkage of calls may use. rbx is the callee's to keep, not to look at.
static void callee_found_everything(void)
{
	ASSERT_SAME(registers_entered, direct_entered, rax);
	ASSERT_SAME(registers_entered, direct_entered, rcx);
	ASSERT_SAME(registers_entered, direct_entered, rdx);
	ASSERT_SAME(registers_entered, direct_entered, rsi);
	ASSERT_SAME(registers_entered, direct_entered, rdi);
	ASSERT_SAME(registers_entered, direct_entered, r8);
	ASSERT_SAME(registers_entered, direct_entered, r9);
	ASSERT_SAME(registers_entered, direct_entered, r10);
	ASSERT_SAME(registers_entered, direct_entered, rbp);
	ASSERT_SAME(registers_entered, direct_entered, r12);
	ASSERT_SAME(registers_entered, direct_entered, r13);
	ASSERT_SAME(registers_entered, direct_entered, r14);
	ASSERT_SAME(registers_entered, direct_entered, r15);
	cr_assert_eq(registers_entered.rsp, registers_passed.rsp - 8, "stack arguments lie above the slot");
	for (unsigned i = 1; i < REGISTERS_STACK_WORDS; i++)
		ASSERT_SAME(registers_entered, direct_entered, stack[i]);
	cr_assert_eq(
		memcmp(registers_entered.extended, direct_entered.extended, sizeof(direct_entered.extended)),
		0);
	cr_assert_eq(registers_entered.flags & DIRECTION, 0);
}

static void caller_found_everything(void)
{
	ASSERT_SAME(registers_returned, direct_returned, rax);
	ASSERT_SAME(registers_returned, direct_returned, rdx);
	ASSERT_SAME(registers_returned, direct_returned, rbx);
	ASSERT_SAME(registers_returned, direct_returned, rbp);
	ASSERT_SAME(registers_returned, direct_returned, r12);
	ASSERT_SAME(registers_returned, direct_returned, r13);
	ASSERT_SAME(registers_returned, direct_returned, r14);
	ASSERT_SAME(registers_returned, direct_returned, r15);
	cr_assert_eq(registers_returned.rsp, registers_passed.rsp);
	for (unsigned i = 1; i < REGISTERS_STACK_WORDS; i++)
		ASSERT_SAME(registers_returned, direct_returned, stack[i]);
	cr_assert_eq(memcmp(registers_returned.extended, direct_returned.extended,
			     sizeof(direct_returned.extended)),
		0);
	cr_assert_eq(registers_returned.flags & DIRECTION, 0);
}

static void call_hooked(void)
{
	call_directly();
	registers_call(seated_hook(registers_callee));
	callee_found_everything();
	caller_found_everything();
}

Test(trampoline, keeps_every_register_both_ways)
{
	start(PFT_CLOCK_TSC);
	call_hooked();
	cr_assert_eq(registers_entered.stack[0], (uint64_t)pft_return);
	cr_assert_str_eq(seated_records(), "+d -d");
}

Test(trampoline, keeps_every_register_on_the_slow_path)
{
	start(PFT_CLOCK_MONOTONIC);
	call_hooked();
	cr_assert_eq(registers_entered.stack[0], (uint64_t)pft_return);
	cr_assert_str_eq(seated_records(), "+d -d");
}

Test(trampoline, keeps_every_register_of_a_call_that_is_dropped)
{
	start(PFT_CLOCK_TSC);
	seated_fill(call_hooked_leaf);
	call_hooked();
	cr_assert_eq(registers_entered.stack[0], direct_entered.stack[0], "the caller's own return address");
	cr_assert_str_eq(seated_records(), "");
}

Test(trampoline, keeps_every_register_of_a_call_on_a_foreign_stack)
{
	start(PFT_CLOCK_TSC);
	seated_elsewhere(call_hooked);
	cr_assert_eq(registers_entered.stack[0], (uint64_t)pft_return);
	cr_assert_str_eq(seated_records(), "+d@1 -d@1");
}

// The only instructions of a function that ends in a tail call of a hooked one, all registers being its
// arguments.
static void *jump_target;

__attribute__((naked)) static void jumps_to_target(void)
{
	__asm__("jmp *%0" : : "m"(jump_target));
}

Test(trampoline, keeps_every_register_of_a_tail_call)
{
	start(PFT_CLOCK_TSC);
	call_directly();
	jump_target = seated_hook(registers_callee);
	registers_call(seated_hook(jumps_to_target));
	callee_found_everything();
	caller_found_everything();
	cr_assert_str_eq(seated_records(), "+e -e +d -d");
}

// ---- unwinding --------------------------------------------------------------------------------------

struct search {
	uintptr_t low, high; // code that is looked for
	int frames;
	int found;
};

static _Unwind_Reason_Code look(struct _Unwind_Context *context, void *data)
{
	struct search *search = data;
	uintptr_t address = _Unwind_GetIP(context);

	search->frames++;
	search->found += address >= search->low && address < search->high;
	return search->frames < 64 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

// How many frames between here and the end of the stack run code of registers_call, which is the caller.
static int callers_seen(void)
{
	struct search search = {.low = (uintptr_t)registers_call, .high = (uintptr_t)registers_callee};

	_Unwind_Backtrace(look, &search);
	return search.found;
}

static int seen_inside;

static void looks_back(void)
{
	seen_inside = callers_seen();
}

Test(trampoline, is_walked_through_by_the_unwinder)
{
	start(PFT_CLOCK_TSC);
	registers_call(seated_hook(looks_back));
	cr_assert_eq(seen_inside, 1);
}

Test(trampoline, is_walked_through_by_the_unwinder_after_a_tail_call)
{
	start(PFT_CLOCK_TSC);
	jump_target = seated_hook(looks_back);
	registers_call(seated_hook(jumps_to_target));
	cr_assert_eq(seen_inside, 1);
}
