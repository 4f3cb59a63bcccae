// SPDX-License-Identifier: MIT
// What a run's calls add up to, reckoned while they stream by: functions, the calling-context tree, threads,
// the slowest single calls. Called by the flusher for a report at exit and by `pft report` for finished
// traces. Any single thread; memory from an arena of its own. The rule: memory follows the number of
// different functions, chains of callers and threads, never the number of calls.
//
// Times are nanoseconds of one clock. A call counts when it ends; one that never does is only counted as
// such.
#ifndef PFT_SUMMARY_H
#define PFT_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/report/histogram.h"
#include "encoder/report/kinds.h"
#include "encoder/report/spread.h"
#include "encoder/session.h"
#include "encoder/strings.h"
#include "encoder/table.h"
#include "encoder/report/strip.h"
#include "encoder/report/tree.h"

// A call of a waiting kind counts as waiting when it takes this long: shorter ones found what they wanted.
#define PFT_SUMMARY_WAIT_NS 5000

#define PFT_SUMMARY_SLOWEST 32

// How long after its end, and after how many other ends, a thread is still known.
#define PFT_SUMMARY_LATE_NS (UINT64_C(100) * 1000 * 1000)
#define PFT_SUMMARY_ENDED 16

struct pft_summary_function {
	uint32_t name, category; // numbers of strings
	enum pft_kind kind;
	uint64_t calls; // that ended
	uint64_t open; // that have not, by now
	uint64_t unwound; // that ended by an exception, a longjmp or with their stack
	uint64_t total_ns; // of the outermost calls, where it calls itself
	uint64_t self_ns; // without the recorded calls that it made
	uint64_t sum_ns; // of all calls
	uint64_t min_ns, max_ns;
	uint64_t max_at_ns; // when the longest began
	uint64_t inner_calls; // recorded calls that it made itself
	uint64_t inner_all; // and all recorded calls inside of its outermost ones
	uint64_t waits; // calls of a waiting kind that took PFT_SUMMARY_WAIT_NS or longer
	uint64_t wait_ns; // their time
	uint32_t threads; // that called it
	struct pft_histogram durations;
	struct pft_spread spread; // of the calls' own times
};

struct pft_summary_thread {
	uint32_t tid;
	uint32_t name; // number of a string; 0: none
	uint64_t begin_ns, last_ns; // its life, as far as it was seen
	bool ended;
	bool late; // it was seen again after that
	uint64_t calls; // that ended
	uint64_t waiting_ns; // inside of long calls of a waiting kind; the rest of its life it was busy
	struct pft_strip strip;
	uint8_t *called; // a bit a function: whether this thread called it
	uint32_t called_room; // functions
	struct pft_summary_thread *next;
};

struct pft_summary_call {
	uint32_t function, caller; // 0: none recorded
	const struct pft_summary_thread *thread;
	uint64_t begin_ns, duration_ns;
};

struct pft_summary {
	struct pft_arena memory;
	struct pft_strings strings;
	struct pft_summary_function *functions; // 1 to functions_used
	uint32_t functions_room, functions_used;
	struct pft_table numbers; // of functions, by name and category
	struct pft_tree tree;
	struct pft_summary_thread *threads, **threads_end; // in order of their beginning
	uint32_t threads_used;
	struct pft_summary_thread *ended[PFT_SUMMARY_ENDED]; // the last ones that did
	uint32_t ended_used; // counts on
	struct pft_summary_stack *free_stacks;
	struct pft_summary_call slowest[PFT_SUMMARY_SLOWEST]; // the slowest first
	uint32_t slowest_used;
	// The strips of all threads count from where the first thread began: others that are told later, and
	// began before, are nearer to it than a strip can show.
	uint64_t origin_ns;
	uint64_t begin_ns, last_ns; // of all events
	uint64_t calls, dropped; // calls that ended; events that are known to be lost
	bool incomplete; // memory ran out: something was not counted
};

// One stack of a thread: its own, or a coroutine's.
struct pft_summary_stack;

// NULL when out of memory.
struct pft_summary *pft_summary_open(void);
void pft_summary_close(struct pft_summary *summary);

// The number of the function of that name, made when there is none. Never 0.
uint32_t pft_summary_function(struct pft_summary *summary, const char *name, const char *category);

// A thread begins, or is seen for the first time. NULL when out of memory. The kernel gives thread numbers
// out in turn: one that is seen again soon after its end is the same thread in its last destructors, and
// stays what it was, without another end.
struct pft_summary_thread *pft_summary_thread(struct pft_summary *summary, uint32_t tid, uint64_t ns);
void pft_summary_thread_name(
	struct pft_summary *summary, struct pft_summary_thread *thread, const char *name);
void pft_summary_thread_end(struct pft_summary *summary, struct pft_summary_thread *thread, uint64_t ns);

// An open call.
struct pft_summary_frame {
	uint32_t function;
	bool waits; // itself or one of its callers is of a waiting kind
	struct pft_tree_node *node;
	uint64_t begin_ns;
	uint64_t inner_ns; // of the recorded calls that it made
	uint64_t inner_calls, inner_all;
};

// A call, in a frame of the caller's: it is entered once, left once at most, and all calls that were entered
// with it as their caller are left before. `caller`: NULL when none is recorded.
void pft_summary_enter(struct pft_summary *summary, struct pft_summary_thread *thread,
	const struct pft_summary_frame *caller, struct pft_summary_frame *frame, uint64_t ns,
	uint32_t function);
void pft_summary_leave(struct pft_summary *summary, struct pft_summary_thread *thread,
	struct pft_summary_frame *caller, const struct pft_summary_frame *frame, uint64_t ns, bool unwound);

// A stack without open calls, to be given back when the summary hears no more of it: what is open then never
// returned. NULL when out of memory.
struct pft_summary_stack *pft_summary_stack(struct pft_summary *summary, struct pft_summary_thread *thread);
void pft_summary_stack_give_back(struct pft_summary *summary, struct pft_summary_stack *stack);

// Calls of a stack, in order of time. An end without a begin is ignored.
void pft_summary_begin(
	struct pft_summary *summary, struct pft_summary_stack *stack, uint64_t ns, uint32_t function);
void pft_summary_end(struct pft_summary *summary, struct pft_summary_stack *stack, uint64_t ns, bool unwound);

// How many calls are open on the stack.
uint32_t pft_summary_depth(const struct pft_summary_stack *stack);

// Events were lost here: no call is known to be open any more, and the open ones are not counted.
void pft_summary_gap(struct pft_summary *summary, struct pft_summary_stack *stack, uint64_t dropped);

// How long the run took, and how long a thread lived in it.
uint64_t pft_summary_run_ns(const struct pft_summary *summary);
uint64_t pft_summary_life_ns(const struct pft_summary *summary, const struct pft_summary_thread *thread);

// How much of its life the thread did not wait, as far as recorded calls say.
uint64_t pft_summary_busy_ns(const struct pft_summary *summary, const struct pft_summary_thread *thread);

#endif
