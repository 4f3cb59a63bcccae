// SPDX-License-Identifier: MIT
// Signal handlers that record while they interrupt a thread that records, between any two instructions: each
// event is there once, in order, whether the handler returns or not.
#include <criterion/criterion.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "encoder/records.h"
#include "shim/hot/ring.h"
#include "shim/hot/trampoline.h"
#include "tests/unit/seated.h"
#include "tests/unit/stepped.h"
#include "tests/unit/unannounced.h"

typedef void (*volatile function)(void);

static function interrupted, handled, afterwards;
static sigjmp_buf before_it;

static void nothing(void)
{
}

static struct pft_session_thread *entry_of(uint32_t index)
{
	return pft_session_thread(pft_session, index);
}

static void make_hooks(void)
{
	interrupted = seated_hook(nothing);
	handled = seated_hook(nothing);
	afterwards = seated_hook(nothing);
}

static void start(enum pft_clock clock)
{
	seated_start(clock);
	make_hooks();
}

static void call_interrupted(void)
{
	interrupted();
}

static void call_handled(void)
{
	handled();
}

static void call_handled_and_leave(void)
{
	handled();
	siglongjmp(before_it, 1);
}

// ---- at each instruction ----------------------------------------------------------------------------

// Takes the first `word` out of `words`. False when it is not there.
static bool take(char *words, const char *word)
{
	const size_t length = strlen(word);
	char *at = strstr(words, word);

	if (at)
		memmove(at, at + length, strlen(at + length) + 1);
	return at;
}

static void take_slot_numbers(char *words)
{
	char *to = words;

	for (const char *from = words; *from; from++)
		if (*from == '@')
			from += strspn(from + 1, "0123456789");
		else
			*to++ = *from;
	*to = '\0';
}

// The events but for the handler's call, which must be there once and whole.
static const char *without_handled(const char *events)
{
	static char rest[256];

	snprintf(rest, sizeof(rest), "%s ", events);
	take_slot_numbers(rest);
	return take(rest, "+b -b ") ? rest : "the handler's call is not there";
}

static unsigned learn(void (*prepare)(void), void (*run)(void))
{
	unsigned steps;

	prepare();
	run(); // the first time may be longer
	prepare();
	steps = stepped_all(run, NULL);
	seated_records();
	cr_assert_gt(steps, 50, "the calls were not stepped through");
	return steps;
}

// `wanted` is recorded, and somewhere in it the handler's call. `prepare` comes before each time.
static void interrupt_everywhere(void (*prepare)(void), void (*run)(void), const char *wanted)
{
	unsigned steps = learn(prepare, run), visits = 0;

	for (unsigned at = 0; at < steps; at++) {
		const char *events;
		bool visited;

		seated_drain();
		prepare();
		visited = stepped_at(at, run, call_handled);
		events = seated_events();
		if (visited)
			cr_assert_str_eq(without_handled(events), wanted, "at %u: %s", at, events);
		visits += visited;
	}
	cr_assert_gt(visits, steps * 3 / 4, "%u of %u instructions were met", visits, steps);
}

// The call has not begun, or was left, or is over.
static bool is_left_call(const char *events)
{
	return !strcmp(events, "+c -c ") || !strcmp(events, "+a ~a +c -c ") ||
	       !strcmp(events, "+a -a +c -c ");
}

static void leave_everywhere(void (*prepare)(void))
{
	const unsigned steps = learn(prepare, call_interrupted);

	for (volatile unsigned at = 0; at < steps; at++) {
		const char *events;

		seated_drain();
		prepare();
		if (!sigsetjmp(before_it, 1) && !stepped_at(at, call_interrupted, call_handled_and_leave))
			handled();
		afterwards();
		events = seated_events();
		cr_assert(is_left_call(without_handled(events)), "at %u: %s", at, events);
	}
}

// ---- a handler that returns -------------------------------------------------------------------------

Test(interrupted, call_is_recorded_with_the_handlers)
{
	start(PFT_CLOCK_TSC);
	interrupt_everywhere(nothing, call_interrupted, "+a -a ");
}

Test(interrupted, call_is_recorded_on_the_slow_path)
{
	start(PFT_CLOCK_TSC);
	interrupt_everywhere(seated_arm, call_interrupted, "+a -a ");
}

Test(interrupted, call_is_recorded_when_the_clock_is_read_by_a_call)
{
	start(PFT_CLOCK_MONOTONIC);
	interrupt_everywhere(nothing, call_interrupted, "+a -a ");
}

static void interrupt_elsewhere(void)
{
	interrupt_everywhere(nothing, call_interrupted, "+a -a ");
}

Test(interrupted, call_on_a_foreign_stack_is_recorded)
{
	start(PFT_CLOCK_TSC);
	seated_elsewhere(interrupt_elsewhere);
}

// ---- an abandoned call --------------------------------------------------------------------------------

static function abandoned;
static sigjmp_buf above;

static void jump_up(void)
{
	siglongjmp(above, 1);
}

// Deep enough that the handler's calls come to lie above it, and close it as well.
__attribute__((noinline)) static void call_deep(function call)
{
	char room[65536];

	__asm__ volatile("" : : "r"(room) : "memory");
	call();
	__asm__ volatile("" : : "r"(room) : "memory");
}

static void abandon(void)
{
	if (!sigsetjmp(above, 0))
		call_deep(abandoned);
}

static void abandon_on_the_slow_path(void)
{
	abandon();
	seated_arm();
}

static void call_abandoned_deep(void)
{
	call_deep(abandoned);
}

// One in the other.
static void abandon_two(void)
{
	if (!sigsetjmp(above, 0))
		call_deep(afterwards);
}

static void make_abandoned(void)
{
	make_hooks();
	abandoned = seated_hook(jump_up);
}

Test(interrupted, call_that_closes_an_abandoned_one_is_recorded)
{
	seated_start(PFT_CLOCK_TSC);
	make_abandoned();
	interrupt_everywhere(abandon, call_interrupted, "+d ~d +a -a ");
	interrupt_everywhere(abandon_on_the_slow_path, call_interrupted, "+d ~d +a -a ");
}

Test(interrupted, call_that_closes_two_abandoned_ones_is_recorded)
{
	seated_start(PFT_CLOCK_MONOTONIC);
	make_abandoned();
	pft_originals[seated_hook_id((void *)afterwards)] = (void *)call_abandoned_deep;
	interrupt_everywhere(abandon_two, call_interrupted, "+c +d ~d ~c +a -a ");
}

// ---- a gap --------------------------------------------------------------------------------------------

static void drop_two(void)
{
	pft_self->dropped_unsaid = 2;
	seated_arm();
}

Test(interrupted, gap_is_said_once)
{
	start(PFT_CLOCK_TSC);
	interrupt_everywhere(drop_two, call_interrupted, "?:2:0 +a -a ");
}

// ---- a handler that switches stacks -----------------------------------------------------------------

// As a scheduler does that preempts: a coroutine is left in the middle of its call, and the call that is open
// on the native stack returns before it goes on.
static ucontext_t native, coroutine;
static char coroutine_stack[256 * 1024] __attribute__((aligned(16)));
static unsigned preempted_at;
static bool preempted;

static void preempt(void)
{
	preempted = true;
	swapcontext(&coroutine, &native);
}

static void run_coroutine(void)
{
	stepped_at(preempted_at, call_interrupted, preempt);
}

static void learn_in_coroutine(void)
{
	interrupted();
	preempted_at = stepped_all(call_interrupted, NULL);
}

static void start_coroutine(void (*run)(void))
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = coroutine_stack;
	coroutine.uc_stack.ss_size = sizeof(coroutine_stack);
	coroutine.uc_link = &native;
	makecontext(&coroutine, run, 0);
	swapcontext(&native, &coroutine);
}

static void call_until_preempted(void)
{
	start_coroutine(run_coroutine);
}

static const char *without_native(const char *events)
{
	static char rest[256];

	snprintf(rest, sizeof(rest), "%s ", events);
	take_slot_numbers(rest);
	return take(rest, "+c ") && take(rest, "-c ") ? rest : "the native call is not there";
}

Test(interrupted, call_on_a_foreign_stack_is_preempted_by_one_that_returns)
{
	unsigned steps;

	start(PFT_CLOCK_TSC);
	start_coroutine(learn_in_coroutine);
	steps = preempted_at;
	cr_assert_gt(steps, 200);
	pft_originals[seated_hook_id((void *)afterwards)] = (void *)call_until_preempted;
	seated_records();
	for (preempted_at = 0; preempted_at < steps; preempted_at++) {
		const char *events;

		preempted = false;
		seated_drain();
		afterwards();
		if (preempted)
			swapcontext(&native, &coroutine);
		events = seated_events();
		cr_assert_str_eq(without_native(events), "+a -a ", "at %u: %s", preempted_at, events);
	}
}

// ---- a handler that leaves by siglongjmp ------------------------------------------------------------

Test(interrupted, call_may_be_left)
{
	start(PFT_CLOCK_TSC);
	leave_everywhere(nothing);
}

Test(interrupted, call_on_the_slow_path_may_be_left)
{
	start(PFT_CLOCK_MONOTONIC);
	leave_everywhere(nothing);
}

// ---- the first event --------------------------------------------------------------------------------

// The thread has no seat, and the one that it had is free.
static void get_up(void)
{
	pft_self_end();
	entry_of(0)->state = PFT_THREAD_FREE;
}

// A thread whose first event the handler's may be. On its native stack, of which it must find the bounds
// itself.
static void *interrupt_first_event(void *unused)
{
	call_interrupted();
	interrupt_everywhere(get_up, call_interrupted, "+a -a ");
	return unused;
}

static void *leave_first_event(void *unused)
{
	call_interrupted();
	leave_everywhere(get_up);
	return unused;
}

static void first_event(void *(*run)(void *))
{
	seated_session(PFT_CLOCK_TSC, 1u << 16);
	make_hooks();
	pthread_join(unannounced_create(run, NULL), NULL);
	cr_assert_null(seated_at(1), "the thread has taken two seats");
}

Test(interrupted, first_event_seats_the_thread_once)
{
	first_event(interrupt_first_event);
}

Test(interrupted, first_event_may_be_left)
{
	first_event(leave_first_event);
}

static struct pft_self *announced;

static void sit_down(void)
{
	pft_self_begin(announced, seated_stack_high());
}

static unsigned live_seats(void)
{
	unsigned live = 0;

	for (uint32_t index = 0; index < 2; index++)
		live += entry_of(index)->state == PFT_THREAD_LIVE;
	return live;
}

static void announce(void)
{
	pft_self_end();
	entry_of(0)->state = entry_of(1)->state = PFT_THREAD_FREE;
	announced = pft_self_take(PFT_PAGE);
}

Test(interrupted, announced_thread_is_seated_once)
{
	unsigned steps;

	start(PFT_CLOCK_TSC);
	steps = learn(announce, sit_down);
	for (unsigned at = 0; at < steps; at++) {
		bool visited;

		announce();
		visited = stepped_at(at, sit_down, call_handled);
		cr_assert_eq(live_seats(), 1, "at %u", at);
		if (visited)
			cr_assert_str_eq(without_handled(seated_events()), "", "at %u", at);
	}
}

// ---- a storm ----------------------------------------------------------------------------------------

#define STORM_HANDLERS 3000
#define STORM_RING_BYTES (64u << 20)

static unsigned handler_calls;
static volatile unsigned returned;

// The handler of one signal is interrupted by the other.
static const int signals[] = {SIGUSR1, SIGUSR2};
static timer_t timers[2];

static void on_signal(int signal)
{
	(void)signal;
	handled();
	__atomic_add_fetch(&handler_calls, 1, __ATOMIC_RELAXED);
}

static void storm_start(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (unsigned i = 0; i < 2; i++) {
		struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signals[i]};
		const long interval_ns = 20000 + 7000 * i;
		struct itimerspec often = {{0, interval_ns}, {0, interval_ns}};

		sigaction(signals[i], &action, NULL);
		cr_assert_eq(timer_create(CLOCK_MONOTONIC, &event, &timers[i]), 0);
		cr_assert_eq(timer_settime(timers[i], 0, &often, NULL), 0);
	}
}

static void storm_stop(void)
{
	for (unsigned i = 0; i < 2; i++) {
		timer_delete(timers[i]);
		signal(signals[i], SIG_IGN);
	}
}

struct tally {
	unsigned begins[3], ends[3], slots;
};

static void count_record(struct tally *tally, const struct pft_recorded *record)
{
	if (record->kind == PFT_BEGIN)
		tally->begins[record->id - PFT_HOOK_FIRST]++;
	else if (record->kind == PFT_END)
		tally->ends[record->id - PFT_HOOK_FIRST]++;
	tally->slots += record->bytes / sizeof(struct pft_record);
}

static struct tally count_records(void)
{
	uint32_t head = pft_head_position(pft_self->head), position = 0;
	struct tally tally = {0};
	uint64_t ticks = 0;

	while (position != head) {
		struct pft_recorded record;

		cr_assert(pft_record_read(pft_session, 0, position, head, &record), "at %u", position);
		position += record.bytes;
		count_record(&tally, &record);
		if (record.kind == PFT_HOLE)
			continue;
		cr_assert_geq(record.ticks, ticks);
		ticks = record.ticks;
	}
	return tally;
}

static void call_within_call(void)
{
	interrupted();
	returned++;
}

Test(interrupted, calls_in_a_storm_of_signals_are_all_recorded, .timeout = 120)
{
	unsigned calls = 0;
	struct tally tally;

	seated_session(PFT_CLOCK_TSC, STORM_RING_BYTES);
	seated_sit();
	make_hooks();
	pft_originals[seated_hook_id(afterwards)] = call_within_call;
	storm_start();
	for (; __atomic_load_n(&handler_calls, __ATOMIC_RELAXED) < STORM_HANDLERS && calls < 500000; calls++)
		afterwards();
	storm_stop();
	tally = count_records();
	cr_assert_eq(pft_self->entry->dropped, 0);
	cr_assert_gt(handler_calls, 20);
	cr_assert_eq(tally.begins[0], calls);
	cr_assert_eq(tally.ends[0], calls);
	cr_assert_eq(tally.begins[1], handler_calls);
	cr_assert_eq(tally.ends[1], handler_calls);
	cr_assert_eq(tally.begins[2], calls);
	cr_assert_eq(tally.ends[2], calls);
	cr_assert_eq(tally.slots, 2 * (2 * calls + handler_calls) + pft_self->entry->other_slots);
}
