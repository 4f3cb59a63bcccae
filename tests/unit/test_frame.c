// SPDX-License-Identifier: MIT
// Control flow that is more than calls and returns: what was left is closed when it is noticed, what jumps is
// one call after the other, and on other stacks the order is free.
#define _GNU_SOURCE
#include "shim/hot/frame.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "encoder/records.h"
#include "shim/hot/ring.h"
#include "shim/hot/trampoline.h"
#include "tests/unit/seated.h"

typedef void (*volatile function)(void);

static function a, b, c, d;
static volatile unsigned times; // written after a call, so that it is no jump

static void nothing(void)
{
}

static void start(void)
{
	seated_start(PFT_CLOCK_TSC);
	a = seated_hook(nothing);
	b = seated_hook(nothing);
	c = seated_hook(nothing);
	d = seated_hook(nothing);
}

static void becomes(function hooked, void (*original)(void))
{
	pft_originals[seated_hook_id((void *)hooked)] = (void *)original;
}

// ---- what is left without a return ------------------------------------------------------------------

static jmp_buf back;

static void leaves(void)
{
	longjmp(back, 1);
}

static void calls_b(void)
{
	b();
	times++;
}

static void calls_c(void)
{
	c();
	times++;
}

static void calls_b_and_then_c(void)
{
	if (!setjmp(back))
		b();
	else
		c();
	times++;
}

Test(frame, that_was_left_is_closed_by_the_next_call)
{
	start();
	becomes(b, leaves);
	becomes(a, calls_b_and_then_c);
	a();
	cr_assert_str_eq(seated_records(), "+a +b ~b +c -c -a");
}

static void calls_b_and_gets_back(void)
{
	if (!setjmp(back))
		b();
	times++;
}

Test(frame, that_was_left_is_closed_by_the_return_of_its_caller)
{
	start();
	becomes(b, leaves);
	becomes(a, calls_b_and_gets_back);
	a();
	cr_assert_str_eq(seated_records(), "+a +b ~b -a");
}

Test(frame, of_each_call_that_was_left_is_closed_from_the_innermost_out)
{
	start();
	becomes(b, calls_c);
	becomes(c, leaves);
	becomes(a, calls_b_and_gets_back);
	a();
	cr_assert_str_eq(seated_records(), "+a +b +c ~c ~b -a");
}

Test(frame, that_was_left_by_everybody_is_closed_by_what_comes)
{
	start();
	becomes(a, calls_b);
	becomes(b, leaves);
	if (!setjmp(back))
		a();
	c();
	cr_assert_str_eq(seated_records(), "+a +b ~b ~a +c -c");
}

static void leave_many_times(void)
{
	for (volatile unsigned i = 0; i < 1000; i++)
		if (!setjmp(back))
			b();
}

Test(frame, that_was_left_does_not_stay)
{
	uint64_t head;

	start();
	becomes(b, leaves);
	becomes(a, leave_many_times);
	head = pft_self->head;
	a();
	cr_assert_eq(pft_head_floor(pft_self->head), pft_head_floor(head));
}

// ---- jumps ------------------------------------------------------------------------------------------

// What a compiler makes of "return b();".
static void *jump_target;

__attribute__((naked)) static void jumps(void)
{
	__asm__("jmp *%0" : : "m"(jump_target));
}

Test(frame, of_a_function_that_jumps_to_another_serves_both)
{
	start();
	becomes(a, jumps);
	jump_target = (void *)b;
	a();
	cr_assert_str_eq(seated_records(), "+a -a +b -b");
	cr_assert_eq(pft_session_record(pft_session, 0, 16)->ticks,
		pft_session_record(pft_session, 0, 32)->ticks, "one ends when the other begins");
}

Test(frame, of_a_jump_within_a_call_is_on_its_level)
{
	start();
	becomes(a, calls_b);
	becomes(b, jumps);
	jump_target = (void *)c;
	a();
	cr_assert_str_eq(seated_records(), "+a +b -b +c -c -a");
}

static void *jump_back;
static uintptr_t lowest, highest;

// Each notes where its stack is.
#define JUMPS_UNTIL_ZERO(target)                                                                             \
	"mov %%rsp, %%rax; cmp %1, %%rax; jae 1f; mov %%rax, %1; 1: cmp %2, %%rax; jbe 2f; mov %%rax, %2;"   \
	"2: dec %%rdi; jz 3f; jmp *" target "; 3: ret"

__attribute__((naked)) static void jumps_there(void)
{
	__asm__(JUMPS_UNTIL_ZERO("%0") : : "m"(jump_target), "m"(lowest), "m"(highest));
}

__attribute__((naked)) static void jumps_back(void)
{
	__asm__(JUMPS_UNTIL_ZERO("%0") : : "m"(jump_back), "m"(lowest), "m"(highest));
}

Test(frame, of_functions_that_jump_to_each_other_is_one)
{
	void (*volatile first)(long times);

	start();
	becomes(a, jumps_there);
	becomes(b, jumps_back);
	jump_target = (void *)b;
	jump_back = (void *)a;
	lowest = UINTPTR_MAX;
	first = (void (*)(long))a;
	first(4);
	cr_assert_str_eq(seated_records(), "+a -a +b -b +a -a +b -b");
	first(100000);
	cr_assert_eq(highest, lowest, "the stack grew by %lu", highest - lowest);
}

Test(frame, of_a_jump_that_is_dropped_stays_with_the_first)
{
	uint64_t dropped;

	start();
	seated_fill(c);
	dropped = pft_self->entry->dropped;
	becomes(a, jumps);
	jump_target = (void *)b;
	a();
	cr_assert_str_eq(seated_records(), "");
	cr_assert_eq(pft_self->entry->dropped - dropped, 4, "two calls");
}

static void fills(void)
{
	seated_fill(c);
	times++;
}

__attribute__((naked)) static void calls_d_then_jumps(void)
{
	__asm__("sub $8, %%rsp; call *%0; add $8, %%rsp; jmp *%1" : : "m"(d), "m"(jump_target));
}

Test(frame, of_a_jump_without_room_ends_with_the_end_that_has_room)
{
	start();
	becomes(a, calls_d_then_jumps);
	becomes(d, fills);
	jump_target = (void *)b;
	a();
	cr_assert_str_eq(seated_records(), "-d -a");
	cr_assert_eq(pft_self->dropped_unsaid, 2 + 2);
}

// ---- foreign stacks ---------------------------------------------------------------------------------

#define STACK_BYTES 65536

struct coroutine {
	ucontext_t inside, outside;
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

static struct coroutine one, two;

static void coroutine_make(struct coroutine *coroutine, void (*run)(void))
{
	getcontext(&coroutine->inside);
	coroutine->inside.uc_stack.ss_sp = coroutine->stack;
	coroutine->inside.uc_stack.ss_size = STACK_BYTES;
	coroutine->inside.uc_link = &coroutine->outside;
	makecontext(&coroutine->inside, run, 0);
}

static void coroutine_resume(struct coroutine *coroutine)
{
	swapcontext(&coroutine->outside, &coroutine->inside);
}

// Ends on foreign stacks that the thread keeps room for.
static uint32_t rooms_kept(void)
{
	return (uint32_t)pft_self->foreign_open;
}

static void yield_one(void)
{
	swapcontext(&one.inside, &one.outside);
	times++;
}

static void yield_two(void)
{
	swapcontext(&two.inside, &two.outside);
	times++;
}

static void run_a(void)
{
	a();
	times++;
}

static void run_b(void)
{
	b();
	times++;
}

static bool is_on(const struct coroutine *coroutine, uintptr_t address)
{
	return address - (uintptr_t)coroutine->stack < STACK_BYTES;
}

Test(frame, on_a_foreign_stack_is_named_by_its_slot)
{
	start();
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "+a@1 -a@1");
	cr_assert(is_on(&one, seated_slot(1)));
	cr_assert_eq(pft_self->entry->other_slots, 2);
}

Test(frame, on_a_foreign_stack_asks_for_room_in_the_commit_records)
{
	start();
	pft_session->foreign_max = 0;
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_eq(pft_session->foreign_max, PFT_FOREIGN_MAX);
}

Test(frame, within_a_call_on_a_foreign_stack_has_a_slot_of_its_own)
{
	start();
	becomes(a, calls_b);
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "+a@1 +b@2 -b@2 -a@1");
	cr_assert_lt(seated_slot(2), seated_slot(1));
}

Test(frame, on_foreign_stacks_may_end_in_any_order)
{
	start();
	becomes(a, yield_one);
	becomes(b, yield_two);
	coroutine_make(&one, run_a);
	coroutine_make(&two, run_b);
	coroutine_resume(&one);
	c();
	coroutine_resume(&two);
	coroutine_resume(&one);
	coroutine_resume(&two);
	cr_assert_str_eq(seated_records(), "+a@1 +c -c +b@2 -a@1 -b@2");
	cr_assert(is_on(&two, seated_slot(2)));
	cr_assert_eq(rooms_kept(), 0);
}

static void *resume_one(void *unused)
{
	coroutine_resume(&one);
	return unused;
}

Test(frame, on_a_foreign_stack_may_end_on_another_thread)
{
	pthread_t thread;

	start();
	becomes(a, yield_one);
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	pthread_create(&thread, NULL, resume_one, NULL);
	pthread_join(thread, NULL);
	cr_assert_str_eq(seated_records_of(0), "+a@1");
	cr_assert_str_eq(seated_records_of(1), "-a@1");
	cr_assert_eq(rooms_kept(), 0);
}

static void *call_on_one(void *unused)
{
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	return unused;
}

static void sit_down_after_another(void)
{
	pft_session_thread(pft_session, 1)->state = PFT_THREAD_FREE;
	cr_assert_not_null(pft_self_take(PFT_PAGE));
}

Test(frame, on_a_foreign_stack_that_a_thread_has_left_keeps_no_room_with_its_successor)
{
	struct pft_self *self;
	pthread_t thread;
	uint32_t index = 1;

	start();
	becomes(a, yield_one);
	pthread_create(&thread, NULL, call_on_one, NULL);
	pthread_join(thread, NULL);
	self = pft_self_from(&index);
	cr_assert_eq((uint32_t)self->foreign_open, 1);
	sit_down_after_another();
	self->foreign_open = (self->foreign_open >> 32 << 32) + (UINT64_C(1) << 32) + 5;
	coroutine_resume(&one);
	cr_assert_eq((uint32_t)self->foreign_open, 5);
	cr_assert_str_eq(seated_records_of(0), "-a@1");
}

static uint32_t turn_at(uint32_t position)
{
	return (uint32_t)(((struct pft_detail *)pft_session_record(pft_session, 0, position))->slot >>
			  PFT_TURN_SHIFT);
}

Test(frame, on_a_foreign_stack_counts_the_turns_at_its_slot)
{
	start();
	for (int i = 0; i < 2; i++) {
		coroutine_make(&one, run_a);
		coroutine_resume(&one);
	}
	cr_assert_str_eq(seated_records(), "+a@1 -a@1 +a@1 -a@1");
	cr_assert_eq(turn_at(16), turn_at(48), "an end has the turn of its begin");
	cr_assert_eq(turn_at(80), turn_at(112));
	cr_assert_eq(turn_at(80), turn_at(16) + 1);
}

Test(frame, on_a_foreign_stack_that_was_thrown_away_is_used_again)
{
	start();
	becomes(a, yield_one);
	for (int i = 0; i < 3; i++) {
		coroutine_make(&one, run_a);
		coroutine_resume(&one);
	}
	cr_assert_eq(rooms_kept(), 1);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "+a@1 +a@1 +a@1 -a@1");
	cr_assert_eq(rooms_kept(), 0);
}

Test(frame, on_a_foreign_stack_serves_a_jump)
{
	start();
	becomes(a, jumps);
	jump_target = (void *)b;
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "+a@1 -a@1 +b@1 -b@1");
}

Test(frame, on_a_foreign_stack_keeps_room_for_its_end)
{
	start();
	becomes(a, yield_one);
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	seated_fill(c);
	pft_self->dropped_unsaid = 0; // as if the gap had been said
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "-a@1");
}

Test(frame, on_a_foreign_stack_is_dropped_whole)
{
	start();
	seated_fill(c);
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "");
	cr_assert_eq(pft_self->entry->dropped, 4);
	cr_assert_eq(rooms_kept(), 0);
}

// The low word of a session's pid tells processes apart.
static void is_another_process(void)
{
	pft_session->pid++;
}

Test(frame, that_was_begun_in_the_parent_process_only_leads_back)
{
	start();
	becomes(a, is_another_process);
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_eq(times, 1);
	cr_assert_str_eq(seated_records(), "+a@1");
}

// A call whose stack is off by 8 has its slot right below the one of the call that it is in.
__attribute__((naked)) static void calls_b_misaligned(void)
{
	__asm__("call *%0; ret" : : "m"(b));
}

Test(frame, right_below_another_is_kept_elsewhere)
{
	start();
	becomes(a, calls_b_misaligned);
	a();
	cr_assert_str_eq(seated_records(), "+a +b@1 -b@1 -a");
	becomes(a, calls_b);
	a();
	cr_assert_str_eq(seated_records(), "+a +b -b -a");
}

Test(frame, below_the_part_of_the_stack_that_has_records_is_kept_elsewhere)
{
	seated_session(PFT_CLOCK_TSC, 4096);
	a = seated_hook(nothing);
	pft_self_begin(pft_self_take(PFT_PAGE), (uintptr_t)__builtin_frame_address(0) + PFT_PAGE / 2);
	a();
	cr_assert_str_eq(seated_records(), "+a -a");
	pft_self_end();
	pft_session_thread(pft_session, 0)->state = PFT_THREAD_FREE;
	pft_self_begin(pft_self_take(PFT_PAGE), (uintptr_t)__builtin_frame_address(0) + 2 * PFT_PAGE);
	a();
	cr_assert_str_eq(seated_records(), "+a@1 -a@1");
}

static void fills_and_says_so(void)
{
	seated_fill(c);
	pft_self->dropped_unsaid = 0; // as if the gap had been said
	times++;
}

Test(frame, on_a_foreign_stack_ends_once_when_its_jump_is_dropped)
{
	start();
	becomes(a, calls_d_then_jumps);
	becomes(d, fills_and_says_so);
	jump_target = (void *)b;
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "-d@2 -a@1");
	cr_assert_eq(rooms_kept(), 0);
}

// ---- no room ----------------------------------------------------------------------------------------

static void leaves_no_room(void)
{
	pft_self->tail = pft_head_position(pft_self->head) - (pft_self->ring_mask + 1);
	seated_arm();
	times++;
}

Test(frame, of_a_call_whose_end_finds_no_room_is_done_and_counted)
{
	start();
	becomes(a, leaves_no_room);
	a();
	cr_assert_str_eq(seated_records(), "+a");
	cr_assert_eq(pft_self->entry->dropped, 1);
	cr_assert(pft_head_floor(pft_self->head) & 1, "no call is open");
}

Test(frame, on_a_foreign_stack_whose_end_finds_no_room_is_done_and_counted)
{
	start();
	becomes(a, leaves_no_room);
	coroutine_make(&one, run_a);
	coroutine_resume(&one);
	cr_assert_str_eq(seated_records(), "+a@1");
	cr_assert_eq(pft_self->entry->dropped, 1);
	cr_assert_eq(rooms_kept(), 0);
}

// ---- alternate signal stacks ------------------------------------------------------------------------

static void on_signal(int signal)
{
	(void)signal;
	b();
}

static void raises(void)
{
	raise(SIGUSR1);
	times++;
}

// Room for the stack lies above the call that the signal interrupts.
static void signal_on_stack(char *stack, size_t bytes)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = bytes};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};

	cr_assert_eq(sigaltstack(&alternate, NULL), 0);
	cr_assert_eq(sigaction(SIGUSR1, &action, NULL), 0);
	becomes(a, raises);
	a();
}

Test(frame, on_an_alternate_stack_is_named_by_its_slot)
{
	start();
	signal_on_stack(one.stack, STACK_BYTES);
	cr_assert_str_eq(seated_records(), "+a +b@1 -b@1 -a");
}

Test(frame, on_an_alternate_stack_within_the_native_one_leaves_the_interrupted_call_open)
{
	char stack[STACK_BYTES];

	start();
	signal_on_stack(stack, sizeof(stack));
	cr_assert_str_eq(seated_records(), "+a +b@1 -b@1 -a");
}

// ---- foreign threads --------------------------------------------------------------------------------

static int call_a_in_clone(void *unused)
{
	(void)unused;
	a();
	return 7;
}

Test(frame, of_a_thread_that_has_no_block_of_its_own_is_not_recorded)
{
	int status = 0;
	pid_t child;

	start();
	child = clone(call_a_in_clone, one.stack + STACK_BYTES, CLONE_VM | SIGCHLD, NULL);
	cr_assert_gt(child, 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	cr_assert_str_eq(seated_records(), "");
}

// ---- depth ------------------------------------------------------------------------------------------

static unsigned depth;

static void recurses(void)
{
	if (--depth)
		a();
	times++;
}

static void check_deep(enum pft_clock clock)
{
	uint32_t position = 0, head;
	unsigned events = 0;
	struct pft_recorded record;

	seated_session(clock, 4096);
	seated_sit();
	a = seated_hook(recurses);
	depth = 1000;
	a();
	head = pft_head_position(pft_self->head);
	cr_assert_leq(head, 4096);
	for (; position != head; position += record.bytes) {
		cr_assert(pft_record_read(pft_session, 0, position, head, &record));
		events += record.kind == PFT_BEGIN || record.kind == PFT_END;
	}
	cr_assert_gt(events, 100);
	cr_assert_eq(events + pft_self->entry->dropped, 2000);
}

Test(frame, of_a_recursion_deeper_than_the_ring_is_recorded_or_counted)
{
	check_deep(PFT_CLOCK_TSC);
}

Test(frame, of_a_deep_recursion_is_recorded_or_counted_when_the_clock_is_read_by_a_call)
{
	check_deep(PFT_CLOCK_MONOTONIC);
}
