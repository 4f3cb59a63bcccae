// SPDX-License-Identifier: MIT
// Adding up calls: see summary.h. Flusher context, or any single thread. The rule: a call's time goes to its
// function, its node and its caller at once, when it ends.
#include "encoder/report/summary.h"

#include <stddef.h>
#include <string.h>

#include "encoder/array.h"

// Stands for the chains that the tree has no room for, and for functions beyond memory.
#define BEYOND_NAME "(more)"

struct pft_summary_stack {
	struct pft_summary_thread *thread;
	struct pft_summary_stack *next;
	uint32_t depth; // open calls; those beyond the frames are not counted
	struct pft_summary_frame frames[PFT_DEPTH_MAX];
};

// ---- open and close ---------------------------------------------------------------------------------

struct pft_summary *pft_summary_open(void)
{
	struct pft_arena memory = PFT_ARENA_EMPTY;
	struct pft_summary *summary = pft_arena_alloc(&memory, sizeof *summary);

	if (summary == NULL)
		return NULL;
	summary->memory = memory;
	summary->strings.memory = &summary->memory;
	summary->threads_end = &summary->threads;
	// The first function, so that there always is one.
	if (pft_summary_function(summary, BEYOND_NAME, "") == 1 &&
		pft_tree_open(&summary->tree, &summary->memory, 1))
		return summary;
	pft_summary_close(summary);
	return NULL;
}

void pft_summary_close(struct pft_summary *summary)
{
	struct pft_arena memory = summary->memory; // the summary lies in it

	pft_arena_free(&memory);
}

// ---- functions --------------------------------------------------------------------------------------

static bool make_room_for_function(struct pft_summary *summary)
{
	void *grown;

	if (summary->functions_used + 1 < summary->functions_room)
		return true;
	grown = pft_array_grow(&summary->memory, summary->functions, &summary->functions_room,
		summary->functions_used + 1, sizeof *summary->functions);
	if (grown != NULL)
		summary->functions = grown;
	return grown != NULL;
}

uint32_t pft_summary_function(struct pft_summary *summary, const char *name, const char *category)
{
	uint32_t name_number = pft_strings_number(&summary->strings, name);
	uint32_t category_number = pft_strings_number(&summary->strings, category);
	uint64_t key = (uint64_t)name_number << 32 | category_number;
	uint32_t number = pft_table_get(&summary->numbers, key);

	if (number != 0)
		return number;
	number = summary->functions_used + 1;
	if (name_number == 0 || category_number == 0 || !make_room_for_function(summary) ||
		!pft_table_put(&summary->numbers, &summary->memory, key, number)) {
		summary->incomplete = true;
		return 1;
	}
	summary->functions[number] = (struct pft_summary_function){
		.name = name_number, .category = category_number, .kind = pft_kind_of(name)};
	summary->functions_used = number;
	return number;
}

// ---- threads and stacks -----------------------------------------------------------------------------

static void see(struct pft_summary *summary, struct pft_summary_thread *thread, uint64_t ns)
{
	if (summary->begin_ns == 0 || ns < summary->begin_ns)
		summary->begin_ns = ns;
	if (ns > summary->last_ns)
		summary->last_ns = ns;
	if (ns > thread->last_ns)
		thread->last_ns = ns;
}

static struct pft_summary_thread *find_late(const struct pft_summary *summary, uint32_t tid, uint64_t ns)
{
	for (uint32_t i = 0; i < PFT_SUMMARY_ENDED; i++) {
		struct pft_summary_thread *thread = summary->ended[i];

		if (thread != NULL && thread->tid == tid && ns < thread->last_ns + PFT_SUMMARY_LATE_NS)
			return thread;
	}
	return NULL;
}

struct pft_summary_thread *pft_summary_thread(struct pft_summary *summary, uint32_t tid, uint64_t ns)
{
	struct pft_summary_thread *thread = find_late(summary, tid, ns);

	if (thread != NULL) {
		thread->late = true;
		return thread;
	}
	thread = pft_arena_alloc(&summary->memory, sizeof *thread);
	if (thread == NULL) {
		summary->incomplete = true;
		return NULL;
	}
	thread->tid = tid;
	thread->begin_ns = ns;
	if (summary->threads == NULL)
		summary->origin_ns = ns;
	*summary->threads_end = thread;
	summary->threads_end = &thread->next;
	summary->threads_used++;
	see(summary, thread, ns);
	return thread;
}

void pft_summary_thread_name(struct pft_summary *summary, struct pft_summary_thread *thread, const char *name)
{
	thread->name = pft_strings_number(&summary->strings, name);
}

void pft_summary_thread_end(struct pft_summary *summary, struct pft_summary_thread *thread, uint64_t ns)
{
	if (thread->late)
		return;
	see(summary, thread, ns);
	thread->ended = true;
	summary->ended[summary->ended_used++ % PFT_SUMMARY_ENDED] = thread;
}

struct pft_summary_stack *pft_summary_stack(struct pft_summary *summary, struct pft_summary_thread *thread)
{
	struct pft_summary_stack *stack = summary->free_stacks;

	if (stack != NULL)
		summary->free_stacks = stack->next;
	else
		stack = pft_arena_alloc(&summary->memory, sizeof *stack);
	if (stack == NULL) {
		summary->incomplete = true;
		return NULL;
	}
	stack->thread = thread;
	stack->depth = 0;
	return stack;
}

static uint32_t frames_used(const struct pft_summary_stack *stack)
{
	return stack->depth < PFT_DEPTH_MAX ? stack->depth : PFT_DEPTH_MAX;
}

void pft_summary_stack_give_back(struct pft_summary *summary, struct pft_summary_stack *stack)
{
	stack->next = summary->free_stacks;
	summary->free_stacks = stack;
}

// Sets the thread's bit. Whether it was not set before.
static bool first_call(struct pft_summary *summary, struct pft_summary_thread *thread, uint32_t function)
{
	uint8_t bit = (uint8_t)(1u << (function % 8));
	void *grown;

	if (function / 8 >= thread->called_room) {
		grown = pft_array_grow(
			&summary->memory, thread->called, &thread->called_room, function / 8, 1);
		if (grown == NULL) {
			summary->incomplete = true;
			return false;
		}
		thread->called = grown;
	}
	if (thread->called[function / 8] & bit)
		return false;
	thread->called[function / 8] |= bit;
	return true;
}

// ---- calls ------------------------------------------------------------------------------------------

void pft_summary_enter(struct pft_summary *summary, struct pft_summary_thread *thread,
	const struct pft_summary_frame *caller, struct pft_summary_frame *frame, uint64_t ns,
	uint32_t function)
{
	struct pft_tree_node *parent = caller != NULL ? caller->node : summary->tree.root;

	see(summary, thread, ns);
	if (first_call(summary, thread, function))
		summary->functions[function].threads++;
	summary->functions[function].open++;
	*frame = (struct pft_summary_frame){
		.node = pft_tree_child(&summary->tree, parent, function),
		.begin_ns = ns,
		.function = function,
		.waits = pft_kind_is_waiting(summary->functions[function].kind) ||
			 (caller != NULL && caller->waits),
	};
}

void pft_summary_begin(
	struct pft_summary *summary, struct pft_summary_stack *stack, uint64_t ns, uint32_t function)
{
	uint32_t depth = stack->depth++;

	if (depth < PFT_DEPTH_MAX)
		pft_summary_enter(summary, stack->thread, depth != 0 ? &stack->frames[depth - 1] : NULL,
			&stack->frames[depth], ns, function);
	else
		see(summary, stack->thread, ns);
}

static void count_slow(struct pft_summary *summary, const struct pft_summary_call *call)
{
	uint32_t place = summary->slowest_used;

	if (place == PFT_SUMMARY_SLOWEST && summary->slowest[place - 1].duration_ns >= call->duration_ns)
		return;
	if (place < PFT_SUMMARY_SLOWEST)
		summary->slowest_used++;
	else
		place--;
	for (; place != 0 && summary->slowest[place - 1].duration_ns < call->duration_ns; place--)
		summary->slowest[place] = summary->slowest[place - 1];
	summary->slowest[place] = *call;
}

// Times of a damaged trace may say that a call took less than those inside of it.
static uint64_t self_of(const struct pft_summary_frame *frame, uint64_t duration_ns)
{
	return duration_ns > frame->inner_ns ? duration_ns - frame->inner_ns : 0;
}

static void count_in_function(
	struct pft_summary *summary, const struct pft_summary_frame *frame, uint64_t duration_ns)
{
	struct pft_summary_function *function = &summary->functions[frame->function];

	if (function->calls == 0 || duration_ns < function->min_ns)
		function->min_ns = duration_ns;
	if (function->calls == 0 || duration_ns > function->max_ns) {
		function->max_ns = duration_ns;
		function->max_at_ns = frame->begin_ns;
	}
	function->calls++;
	function->sum_ns += duration_ns;
	function->self_ns += self_of(frame, duration_ns);
	pft_spread_add(&function->spread, self_of(frame, duration_ns));
	function->inner_calls += frame->inner_calls;
	if (!frame->node->recursive) {
		function->total_ns += duration_ns;
		function->inner_all += frame->inner_all;
	}
	pft_histogram_add(&function->durations, &summary->memory, duration_ns);
}

static void count_in_node(
	struct pft_tree_node *node, const struct pft_summary_frame *frame, uint64_t duration_ns)
{
	node->calls++;
	node->total_ns += duration_ns;
	node->self_ns += self_of(frame, duration_ns);
}

// The outermost long call of a waiting kind is the one that counts for the thread.
static void count_waiting(struct pft_summary *summary, struct pft_summary_thread *thread,
	const struct pft_summary_frame *caller, const struct pft_summary_frame *frame, uint64_t duration_ns)
{
	struct pft_summary_function *function = &summary->functions[frame->function];
	uint64_t origin_ns = summary->origin_ns;
	uint64_t from_ns = frame->begin_ns > origin_ns ? frame->begin_ns - origin_ns : 0;

	if (!pft_kind_is_waiting(function->kind) || duration_ns < PFT_SUMMARY_WAIT_NS)
		return;
	function->waits++;
	function->wait_ns += duration_ns;
	if (caller != NULL && caller->waits)
		return;
	thread->waiting_ns += duration_ns;
	pft_strip_add(&thread->strip, from_ns, from_ns + duration_ns);
}

static void count_in_caller(
	struct pft_summary_frame *caller, const struct pft_summary_frame *frame, uint64_t duration_ns)
{
	caller->inner_ns += duration_ns;
	caller->inner_calls++;
	caller->inner_all += frame->inner_all + 1;
}

void pft_summary_leave(struct pft_summary *summary, struct pft_summary_thread *thread,
	struct pft_summary_frame *caller, const struct pft_summary_frame *frame, uint64_t ns, bool unwound)
{
	uint64_t duration_ns = ns > frame->begin_ns ? ns - frame->begin_ns : 0;

	see(summary, thread, ns);
	count_in_function(summary, frame, duration_ns);
	count_in_node(frame->node, frame, duration_ns);
	count_waiting(summary, thread, caller, frame, duration_ns);
	count_slow(summary, &(struct pft_summary_call){.function = frame->function,
				    .caller = caller != NULL ? caller->function : 0,
				    .thread = thread,
				    .begin_ns = frame->begin_ns,
				    .duration_ns = duration_ns});
	if (caller != NULL)
		count_in_caller(caller, frame, duration_ns);
	summary->functions[frame->function].unwound += unwound;
	summary->functions[frame->function].open--;
	thread->calls++;
	summary->calls++;
}

void pft_summary_end(struct pft_summary *summary, struct pft_summary_stack *stack, uint64_t ns, bool unwound)
{
	uint32_t depth;

	see(summary, stack->thread, ns);
	if (stack->depth == 0 || --stack->depth >= PFT_DEPTH_MAX)
		return;
	depth = stack->depth;
	pft_summary_leave(summary, stack->thread, depth != 0 ? &stack->frames[depth - 1] : NULL,
		&stack->frames[depth], ns, unwound);
}

uint32_t pft_summary_depth(const struct pft_summary_stack *stack)
{
	return stack->depth;
}

void pft_summary_gap(struct pft_summary *summary, struct pft_summary_stack *stack, uint64_t dropped)
{
	summary->dropped += dropped;
	for (uint32_t i = 0; i < frames_used(stack); i++)
		summary->functions[stack->frames[i].function].open--;
	stack->depth = 0;
}

// ---- lives ------------------------------------------------------------------------------------------

uint64_t pft_summary_run_ns(const struct pft_summary *summary)
{
	return summary->last_ns - summary->begin_ns;
}

uint64_t pft_summary_life_ns(const struct pft_summary *summary, const struct pft_summary_thread *thread)
{
	return (thread->ended ? thread->last_ns : summary->last_ns) - thread->begin_ns;
}

uint64_t pft_summary_busy_ns(const struct pft_summary *summary, const struct pft_summary_thread *thread)
{
	uint64_t ns = pft_summary_life_ns(summary, thread);

	return ns > thread->waiting_ns ? ns - thread->waiting_ns : 0;
}
