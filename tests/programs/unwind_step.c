// SPDX-License-Identifier: MIT
// From every single instruction of a hooked call, each unwinder walks to main over the very frames that are
// there: unwind_step SCENARIO...
// build: -D_GNU_SOURCE -lcalls -ltail_a -ltail_b -lcrooked -lstepping -lwalks -rdynamic -Wl,-z,lazy
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"
#include "tests/programs/freezer.h"
#include "tests/programs/stepping.h"

uintptr_t tail_a(long n);
void crooked(void);

int main(int argc, char **argv);

static jmp_buf jump_target;

static void begin_in_main(void)
{
	step_begin((void (*)(void))main);
}

// ---- ordinary calls ---------------------------------------------------------------------------------

// It starts the flusher, with all signals blocked, so it is not stepped to its end.
static void first_event(void)
{
	begin_in_main();
	leaf();
	step_end();
}

static void nested(void)
{
	begin_in_main();
	outer(1); // binds
	outer(1);
	leaf();
	step_end();
}

static int calls_back_again(void *context)
{
	leaf();
	return context ? through_again(calls_back_again, NULL) : 0;
}

static void callbacks(void)
{
	begin_in_main();
	through(calls_back_again, "once more");
	step_end();
}

// Each of the calls after the first is a jump.
static void tail_calls(void)
{
	begin_in_main();
	tail_a(3);
	step_end();
}

static void misaligned(void)
{
	begin_in_main();
	crooked();
	step_end();
}

// ---- calls that were left without a return ----------------------------------------------------------

static int jumps(void *unused)
{
	(void)unused;
	longjmp(jump_target, 1);
}

static int calls_after_a_jump(void *unused)
{
	(void)unused;
	if (!setjmp(jump_target))
		through_again(jumps, NULL);
	begin_in_main();
	leaf();
	step_end();
	return 0;
}

static int returns_after_a_jump(void *unused)
{
	(void)unused;
	if (!setjmp(jump_target))
		through_again(jumps, NULL);
	begin_in_main();
	return 0;
}

static void abandoned_before_a_call(void)
{
	through(calls_after_a_jump, NULL);
}

static void abandoned_before_a_return(void)
{
	through(returns_after_a_jump, NULL);
	step_end();
}

// ---- other stacks -----------------------------------------------------------------------------------

void calls_on_another_stack(void)
{
	step_begin(calls_on_another_stack);
	outer(1);
	leaf();
	step_end();
}

void tail_calls_on_another_stack(void)
{
	step_begin(tail_calls_on_another_stack);
	tail_a(3);
	step_end();
}

static void run_on_another_stack(void (*function)(void))
{
	static char stack[256 * 1024];
	static ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, function, 0);
	swapcontext(&here, &there);
}

static void coroutine(void)
{
	run_on_another_stack(calls_on_another_stack);
}

static void tail_calls_in_a_coroutine(void)
{
	run_on_another_stack(tail_calls_on_another_stack);
}

int on_a_new_thread(void *unused)
{
	(void)unused;
	step_begin((void (*)(void))on_a_new_thread);
	outer(1);
	step_end();
	return 0;
}

// thrd_create reaches pthread_create inside libc, so the thread's first event is what makes it known.
static void thread(void)
{
	thrd_t made;

	MUST(thrd_create(&made, on_a_new_thread, NULL) == thrd_success);
	MUST(thrd_join(made, NULL) == thrd_success);
}

// ---- forked children --------------------------------------------------------------------------------

static void finish_child(pid_t child)
{
	int status = 0;

	MUST(waitpid(child, &status, 0) == child);
	MUST(WIFEXITED(status));
	printf("the child: %s\n", WEXITSTATUS(status) ? "failures" : "no failures");
}

static void end_child(long failures_before)
{
	step_end();
	stepping_tell_visits("visits.child");
	fflush(stdout);
	_exit(stepping_failures() > failures_before);
}

// Past the C library, so that nothing of ours hears of it before the child's first event.
static pid_t fork_quietly(void)
{
	fflush(stdout);
	return syscall(SYS_fork);
}

static void child_calls(void)
{
	long before = stepping_failures();
	pid_t child = fork_quietly();

	if (child == 0) {
		begin_in_main();
		leaf();
		end_child(before);
	}
	finish_child(child);
}

static int forks_inside(void *child)
{
	*(pid_t *)child = fork_quietly();
	if (*(pid_t *)child == 0)
		begin_in_main();
	return 0;
}

static void child_returns(void)
{
	long before = stepping_failures();
	pid_t child;

	through(forks_inside, &child);
	if (child == 0)
		end_child(before);
	finish_child(child);
}

// ---- a full buffer ----------------------------------------------------------------------------------

// Nobody empties the buffer meanwhile.
static void full(void)
{
	struct freezer freezer = freezer_start(0);

	for (int i = 0; i < 2000; i++)
		leaf();
	nested();
	freezer_stop(freezer);
	usleep(300000);
	nested();
}

static int calls_without_waiting(int most)
{
	for (int i = 0; i < most; i++) {
		uint64_t start_ns = now_ns();

		leaf();
		if (now_ns() - start_ns > 500000000)
			return i;
	}
	return most;
}

static void nested_in_a_full_buffer(int fitting, int seconds)
{
	struct freezer freezer;

	usleep(300000); // for the flusher to empty it
	freezer = freezer_start(seconds);
	for (int i = 0; i < fitting; i++)
		leaf();
	nested();
	freezer_stop(freezer);
}

// How many calls the buffer takes is seen by the first one that waits.
static void wait_for_room(void)
{
	struct freezer freezer = freezer_start(0);
	int fitting = calls_without_waiting(2000);

	freezer_stop(freezer);
	usleep(300000);
	leaf(); // gives up no longer
	nested_in_a_full_buffer(fitting, 1);
	nested_in_a_full_buffer(fitting, 0);
}

// -----------------------------------------------------------------------------------------------------

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{"first_event", first_event},
	{"nested", nested},
	{"callbacks", callbacks},
	{"tail_calls", tail_calls},
	{"misaligned", misaligned},
	{"abandoned_before_a_call", abandoned_before_a_call},
	{"abandoned_before_a_return", abandoned_before_a_return},
	{"coroutine", coroutine},
	{"tail_calls_in_a_coroutine", tail_calls_in_a_coroutine},
	{"thread", thread},
	{"child_calls", child_calls},
	{"child_returns", child_returns},
	{"full", full},
	{"wait_for_room", wait_for_room},
};

static void run_scenario(const char *name)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		if (strcmp(scenarios[i].name, name) == 0)
			scenarios[i].run();
}

int main(int argc, char **argv)
{
	printf("%d unwinders\n", stepping_open());
	for (int i = 1; i < argc; i++) {
		long before = stepping_failures();

		run_scenario(argv[i]);
		printf("%s: %ld failures\n", argv[i], stepping_failures() - before);
	}
	stepping_tell_visits("visits");
	return 0;
}
