// SPDX-License-Identifier: MIT
// The stepper: the trap flag, a handler of SIGTRAP, and the calls that are open. See stepping.h.
// build: -D_GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "tests/programs/common.h"
#include "tests/programs/stepping.h"
#include "tests/programs/walks.h"

#define TRAP_FLAG 0x100
#define VISITS_MAX 65536
#define FAILURES_TOLD 30

// Loops come by the same instruction many times; more walks from it than this tell nothing new.
#define WALKS_MAX 20

struct visit {
	uintptr_t ip;
	long count; // since stepping began
	long total;
};

static int walker_count;
static volatile int wanted; // to go on stepping
static int stepping;
static void (*root_function)(void);

// Innermost last: where each open call returns to, and what its caller shall find then.
static struct walk open_calls;
static struct walk_frame previous;
static uintptr_t previous_top; // the word that was on top of the stack

static struct visit visits[VISITS_MAX];
static long failures;

// ---- telling ----------------------------------------------------------------------------------------

static void tell_place(FILE *file, uintptr_t ip)
{
	Dl_info info = {0};
	const char *slash;

	if (!dladdr((void *)ip, &info)) {
		fprintf(file, "? %lx", ip);
		return;
	}
	slash = strrchr(info.dli_fname, '/');
	fprintf(file, "%s %lx", slash ? slash + 1 : info.dli_fname, ip - (uintptr_t)info.dli_fbase);
}

static void tell_failure(const char *walker, int frame, const char *what, uintptr_t found, uintptr_t real)
{
	if (failures++ >= FAILURES_TOLD)
		return;
	printf("at ");
	tell_place(stdout, previous.ip);
	printf(": %s, frame %d: %s is %lx (", walker, frame, what, found);
	tell_place(stdout, found);
	printf("), really %lx (", real);
	tell_place(stdout, real);
	printf(")\n");
}

static struct visit *find_visit(uintptr_t ip)
{
	struct visit *visit = &visits[ip * UINT64_C(0x9e3779b97f4a7c15) >> 48];

	while (visit->ip && visit->ip != ip)
		visit = visit == &visits[VISITS_MAX - 1] ? visits : visit + 1;
	visit->ip = ip;
	return visit;
}

static int is_worth_a_walk(uintptr_t ip)
{
	struct visit *visit = find_visit(ip);

	visit->total++;
	return visit->count++ < WALKS_MAX;
}

static void forget_visits(void)
{
	for (int i = 0; i < VISITS_MAX; i++)
		visits[i].count = 0;
}

void stepping_tell_visits(const char *name)
{
	FILE *file = side_open(name);

	for (int i = 0; i < VISITS_MAX; i++) {
		if (!visits[i].ip)
			continue;
		tell_place(file, visits[i].ip);
		fprintf(file, " %ld\n", visits[i].total);
	}
	fclose(file);
}

long stepping_failures(void)
{
	return failures;
}

// ---- what is there ----------------------------------------------------------------------------------

static uintptr_t word_at(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

static int is_in_shim(uintptr_t ip)
{
	Dl_info info;

	return dladdr((void *)ip, &info) && strstr(info.dli_fname, "libpftshim");
}

static uintptr_t function_around(uintptr_t ip)
{
	Dl_info info = {0};

	dladdr((void *)ip, &info);
	return (uintptr_t)info.dli_saddr;
}

// The shim describes its own frame as a signal frame, whose caller unwinders look up at exactly the return
// address; that is behind the call, so it names the byte before.
static int names_byte_before(const struct walk_frame *frame)
{
	return is_in_shim(frame[-1].ip);
}

// The calls that were open when stepping began are taken from the first unwinder's word; the root must be
// among their callers.
static void open_calls_begin(const ucontext_t *context)
{
	struct walk walk = {0};
	int has_root = 0;

	walkers[0].walk(&walk, context);
	open_calls.count = 0;
	for (int i = walk.count - 1; i > 0; i--) {
		struct walk_frame *call = &open_calls.frames[open_calls.count++];

		*call = walk.frames[i];
		call->ip += names_byte_before(&walk.frames[i]);
		has_root |= function_around(call->ip - 1) == (uintptr_t)root_function;
	}
	MUST(has_root);
}

static void open_calls_push(uintptr_t slot)
{
	struct walk_frame call = previous;

	MUST(open_calls.count < WALK_FRAMES_MAX);
	call.ip = word_at(slot);
	call.sp = slot + 8;
	// A tail call in disguise: what was called last is over, and its return address serves once more.
	if (call.ip != open_calls.frames[open_calls.count - 1].ip ||
		call.sp != open_calls.frames[open_calls.count - 1].sp)
		open_calls.count++;
	open_calls.frames[open_calls.count - 1] = call;
}

// One instruction has been executed; two when the first is a system call, behind which no trap is taken.
// A call is known by the return address that it pushes, which lies close behind it.
static void open_calls_follow(const struct walk_frame *now)
{
	if (now->sp == previous.sp - 8 && word_at(now->sp) - previous.ip - 2 < 16) {
		open_calls_push(now->sp);
	} else if (now->sp == previous.sp + 8 && now->ip == previous_top) {
		MUST(open_calls.count > 1);
		open_calls.count--;
	}
}

// ---- what is found ----------------------------------------------------------------------------------

static void check_frame(
	const char *walker, int index, const struct walk_frame *found, const struct walk_frame *real)
{
	static const char *const names[WALK_SAVED] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};

	if (found->ip != real->ip && !(index && found->ip == real->ip - 1 && names_byte_before(found)))
		tell_failure(walker, index, "rip", found->ip, real->ip);
	if (found->sp != real->sp)
		tell_failure(walker, index, "rsp", found->sp, real->sp);
	for (int i = 0; i < WALK_SAVED; i++)
		if (found->saved[i] != real->saved[i])
			tell_failure(walker, index, names[i], found->saved[i], real->saved[i]);
}

// When a hooked function jumps into another, the shim's frame that the first would have returned to becomes
// that of the second: while the shim is at it, one or both may be shown.
static int open_calls_shown(const struct walk *walk)
{
	int count = open_calls.count;

	return walk->count == count && is_in_shim(open_calls.frames[count - 1].ip) && is_in_shim(previous.ip)
		       ? count - 1
		       : count;
}

static void check_walk(const struct walker *walker, const ucontext_t *context)
{
	static struct walk walk;
	int calls;

	walk.count = 0;
	walker->walk(&walk, context);
	calls = open_calls_shown(&walk);
	if (walk.count != calls + 1)
		tell_failure(walker->name, walk.count - 1, "the number of frames", walk.count, calls + 1);
	for (int i = 0; i < walk.count && i <= calls; i++)
		check_frame(walker->name, i, &walk.frames[i], i ? &open_calls.frames[calls - i] : &previous);
}

// ---- steps ------------------------------------------------------------------------------------------

// A trap where SIGTRAP is blocked ends the process, so stepping ends where the program is about to block
// everything.
static int is_about_to_block_signals(const greg_t *registers)
{
	static const unsigned char syscall_instruction[] = {0x0f, 0x05};

	return registers[REG_RAX] == SYS_rt_sigprocmask && registers[REG_RSI] &&
	       memcmp((void *)registers[REG_RIP], syscall_instruction, 2) == 0;
}

static void step(int signal, siginfo_t *info, void *ucontext)
{
	ucontext_t *context = ucontext;
	greg_t *registers = context->uc_mcontext.gregs;
	struct walk_frame now = walk_interrupted(context);
	int walk_now = is_worth_a_walk(now.ip);

	(void)signal;
	(void)info;
	if (!stepping)
		open_calls_begin(context);
	else
		open_calls_follow(&now);
	previous = now;
	previous_top = word_at(now.sp);
	for (int i = 0; i < walker_count && walk_now; i++)
		check_walk(&walkers[i], context);
	stepping = wanted && !is_about_to_block_signals(registers);
	if (stepping)
		registers[REG_EFL] |= TRAP_FLAG;
	else
		registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

int stepping_open(void)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	walker_count = walkers_open();
	return walker_count;
}

void step_begin(void (*root)(void))
{
	root_function = root;
	forget_visits();
	wanted = 1;
	__asm__ volatile("int3" : : : "memory");
}

void step_end(void)
{
	wanted = 0;
}
