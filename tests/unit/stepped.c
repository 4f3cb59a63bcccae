// SPDX-License-Identifier: MIT
// Interrupts code between any two instructions: see stepped.h. Called by unit tests.
//
// The processor's trap flag raises SIGTRAP after each instruction (the kernel clears it for the time of the
// handler): that is how the way is learned. Then a breakpoint at one instruction does, and the code runs at
// full speed up to it.
#define _GNU_SOURCE
#include "tests/unit/stepped.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100
#define BREAKPOINT 0xcc // int3
#define PAGE 4096
#define STEPS_MAX 20000

extern char __executable_start[], etext[]; // by the linker

static struct {
	uintptr_t address;
	unsigned before; // how often the way came by earlier
} steps[STEPS_MAX];

static unsigned count;
static void (*runner)(void), (*visitor)(void);
static volatile bool inside;

static struct {
	uint8_t *address;
	uint8_t byte; // that the breakpoint took the place of
	unsigned passes; // to let by
	bool passing; // over the instruction itself, without the breakpoint
	bool visited;
} stop;

__attribute__((noinline)) static void run_inside(void)
{
	inside = true;
	runner();
	inside = false;
}

// Whether a signal of the program would come here. The handler's own is of those that cannot be held.
static bool is_held(const ucontext_t *context)
{
	return sigismember(&context->uc_sigmask, SIGUSR1);
}

static void handle(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGTRAP, &action, NULL);
}

// ---- all --------------------------------------------------------------------------------------------

static unsigned times_met(uintptr_t address)
{
	unsigned times = 0;

	for (unsigned i = 0; i < count; i++)
		times += steps[i].address == address;
	return times;
}

static void learn(int signal, siginfo_t *about, void *context)
{
	uintptr_t address = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)about;
	if (!inside || address < (uintptr_t)__executable_start || address >= (uintptr_t)etext ||
		is_held(context) || count == STEPS_MAX)
		return;
	steps[count].before = times_met(address);
	steps[count++].address = address;
	if (visitor)
		visitor();
}

unsigned stepped_all(void (*run)(void), void (*visit)(void))
{
	count = 0;
	runner = run;
	visitor = visit;
	handle(learn);
	__asm__ volatile("pushfq; orl %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
	run_inside();
	__asm__ volatile("pushfq; andl %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
	cr_assert_lt(count, STEPS_MAX);
	return count;
}

// ---- one --------------------------------------------------------------------------------------------

static void stop_set(void)
{
	stop.byte = *stop.address;
	*stop.address = BREAKPOINT;
}

static void stop_clear(void)
{
	*stop.address = stop.byte;
}

static void stopped(int signal, siginfo_t *about, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)signal;
	(void)about;
	if (stop.passing) {
		stop.passing = false;
		stop_set();
		registers[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	stop_clear();
	registers[REG_RIP] = (greg_t)stop.address;
	if (is_held(context) || stop.passes) {
		stop.passes -= !is_held(context);
		stop.passing = true;
		registers[REG_EFL] |= TRAP_FLAG;
		return;
	}
	stop.visited = true;
	visitor();
}

bool stepped_at(unsigned at, void (*run)(void), void (*visit)(void))
{
	uintptr_t page = steps[at].address & -(uintptr_t)PAGE;

	cr_assert_eq(mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	stop.address = (uint8_t *)steps[at].address;
	stop.passes = steps[at].before;
	stop.passing = stop.visited = false;
	runner = run;
	visitor = visit;
	handle(stopped);
	stop_set();
	run_inside();
	if (!stop.visited)
		stop_clear();
	return stop.visited;
}
