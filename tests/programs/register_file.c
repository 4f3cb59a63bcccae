// SPDX-License-Identifier: MIT
// A function is called, and returns, with random values in every register and on the stack; the other side
// finds each bit of them: register_file ROUNDS PLACE, where the place is what happens around each round.
// build: -D_GNU_SOURCE -lregister_file -Wl,-z,now
#include <cpuid.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <ucontext.h>

#include "tests/programs/common.h"
#include "tests/programs/register_file.h"

static struct register_file caller_gives __attribute__((used)), caller_finds __attribute__((used));
static struct register_file compilers __attribute__((used)); // what the C code around it relies on
static uint64_t stack_words[FILE_STACK_WORDS] __attribute__((used));
static uint64_t random_state;

// Calls probe() with the registers of caller_gives and a copy of stack_words as arguments on the stack, and
// brings back what it finds afterwards.
void call_probe(void);

__asm__(FILE_ASSEMBLY "	.text\n"
		      "	.type	call_probe, @function\n"
		      "call_probe:\n"
		      "	.cfi_startproc\n"
		      "	store_file compilers\n"
		      "	sub	$264, %rsp\n" // 8 * FILE_STACK_WORDS, and 8 for the alignment
		      "	mov	%rsp, %rdi\n"
		      "	lea	stack_words(%rip), %rsi\n"
		      "	mov	$32, %ecx\n"
		      "	rep movsq\n"
		      "	mov	%rsp, caller_gives + 2744(%rip)\n" // general[FILE_RSP]
		      "	load_file caller_gives, rax, rbx, rcx, rdx, rsi, rdi, rbp, -, r8, r9, r10, r11, r12, "
		      "r13, r14, r15\n"
		      "	call	probe@PLT\n"
		      "	store_file caller_finds\n"
		      "	cld\n"
		      "	mov	%rsp, %rsi\n"
		      "	lea	stack_words(%rip), %rdi\n"
		      "	mov	$32, %ecx\n"
		      "	rep movsq\n"
		      "	add	$264, %rsp\n"
		      "	load_file compilers, -, rbx, -, -, -, -, rbp, -, -, -, -, -, r12, r13, r14, r15\n"
		      "	ret\n"
		      "	.cfi_endproc\n"
		      "	.size	call_probe, . - call_probe\n");

_Static_assert(offsetof(struct register_file, general[FILE_RSP]) == 2744, "call_probe");

// ---- random files -----------------------------------------------------------------------------------

static uint64_t random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void put(unsigned char *at, uint64_t value, size_t bytes)
{
	memcpy(at, &value, bytes);
}

static void fill_bytes(unsigned char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 8)
		put(at + i, random_word(), bytes - i < 8 ? bytes - i : 8);
}

static uint64_t enabled_components(void)
{
	uint32_t low;

	__asm__("xgetbv" : "=a"(low) : "c"(0) : "rdx");
	return low & 0xe7;
}

// x87 and SSE, and the header: SDM 1, 13.4.1 and 13.4.2. Exceptions are all masked; precision, rounding,
// modes, flags, condition codes and the top of the stack are anything.
static void fill_legacy(unsigned char *extended)
{
	put(extended, 0x007f | (random_word() & 0x0f00), 2); // FCW
	put(extended + 2, random_word() & 0x7f7f, 2); // FSW
	put(extended + 4, 0xff, 1); // FTW: all in use
	put(extended + 24, 0x1f80 | (random_word() & 0xe07f), 4); // MXCSR
	for (int i = 0; i < 8; i++)
		fill_bytes(extended + 32 + 16 * i, 10);
	fill_bytes(extended + 160, 256); // xmm
	put(extended + 512, enabled_components(), 8);
}

// Where the other components lie depends on the processor: CPUID leaf 0DH.
static void fill_extended(unsigned char *extended)
{
	uint64_t components = enabled_components();

	memset(extended, 0, FILE_EXTENDED_BYTES);
	fill_legacy(extended);
	for (unsigned i = 2; i < 8; i++) {
		unsigned bytes, offset, c, d;

		if (!(components >> i & 1))
			continue;
		MUST(__get_cpuid_count(0xd, i, &bytes, &offset, &c, &d));
		MUST(offset + bytes <= FILE_EXTENDED_BYTES);
		fill_bytes(extended + offset, bytes);
	}
}

static void fill(struct register_file *file)
{
	fill_extended(file->extended);
	for (int i = 0; i < FILE_GENERAL; i++)
		file->general[i] = random_word();
}

// ---- comparing --------------------------------------------------------------------------------------

static int differs(const char *where, const char *what, int index, uint64_t found, uint64_t real)
{
	if (found == real)
		return 0;
	printf("%s: %s %d is %lx, not %lx\n", where, what, index, found, real);
	return 1;
}

static int extended_differ(const char *where, const unsigned char *found, const unsigned char *real)
{
	int wrong = 0;

	if (memcmp(found, real, 28) == 0 && memcmp(found + 32, real + 32, FILE_EXTENDED_BYTES - 32) == 0)
		return 0;
	for (int i = 0; i < FILE_EXTENDED_BYTES; i++)
		if (i < 28 || i > 31) // the mask of MXCSR, which is written and not read
			wrong += differs(where, "extended byte", i, found[i], real[i]);
	return wrong;
}

// A callee may look at each of the general registers but r11, and at none of what rbx holds.
static int seen_differ(const struct probe *probe)
{
	int wrong = extended_differ("callee", probe->seen.extended, caller_gives.extended);

	for (int i = 0; i < FILE_GENERAL; i++)
		if (i != FILE_RBX && i != FILE_R11)
			wrong += differs("callee", "general register", i,
				probe->seen.general[i] + (i == FILE_RSP ? 8 : 0), caller_gives.general[i]);
	return wrong + differs("callee", "direction flag", 0, probe->seen.flags & 0x400, 0);
}

static int found_differ(const struct probe *probe)
{
	static const int preserved[] = {FILE_RBX, FILE_RBP, FILE_RSP, FILE_R12, FILE_R13, FILE_R14, FILE_R15};
	static const int results[] = {FILE_RAX, FILE_RDX};
	int wrong = extended_differ("caller", caller_finds.extended, probe->gives.extended);

	for (size_t i = 0; i < sizeof(preserved) / sizeof(preserved[0]); i++)
		wrong += differs("caller", "general register", preserved[i],
			caller_finds.general[preserved[i]], caller_gives.general[preserved[i]]);
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		wrong += differs("caller", "general register", results[i], caller_finds.general[results[i]],
			probe->gives.general[results[i]]);
	return wrong + differs("caller", "direction flag", 0, caller_finds.flags & 0x400, 0);
}

static int stack_differs(const struct probe *probe, const uint64_t *given)
{
	int wrong = 0;

	for (int i = 0; i < FILE_STACK_WORDS; i++) {
		wrong += differs("callee", "stack argument", i, probe->stack_seen[i], given[i]);
		wrong += differs("caller", "stack argument", i, stack_words[i], ~given[i]);
	}
	return wrong;
}

static int rounds_wrong(long rounds)
{
	struct probe *probe = probe_of_library();
	int wrong = 0;

	for (long round = 0; round < rounds && wrong < 20; round++) {
		uint64_t given[FILE_STACK_WORDS];

		for (int i = 0; i < FILE_STACK_WORDS; i++)
			given[i] = random_word();
		memcpy(stack_words, given, sizeof(given));
		fill(&caller_gives);
		fill(&probe->gives);
		memset(probe->seen.extended, 0, FILE_EXTENDED_BYTES);
		memset(caller_finds.extended, 0, FILE_EXTENDED_BYTES);
		call_probe();
		wrong += seen_differ(probe) + found_differ(probe) + stack_differs(probe, given);
	}
	return wrong;
}

// ---- places -----------------------------------------------------------------------------------------

static int here(long rounds)
{
	return rounds_wrong(rounds);
}

static int round_on_thread(void *unused)
{
	(void)unused;
	return rounds_wrong(1);
}

// thrd_create reaches pthread_create inside libc: the call is the first that is heard of the thread.
static int new_thread(long rounds)
{
	int wrong = 0, result;
	thrd_t thread;

	for (long round = 0; round < rounds; round++, wrong += result) {
		MUST(thrd_create(&thread, round_on_thread, NULL) == thrd_success);
		MUST(thrd_join(thread, &result) == thrd_success);
	}
	return wrong;
}

// Past the C library: the call is the first that is heard of the child.
static int new_process(long rounds)
{
	int wrong = 0, status;

	for (long round = 0; round < rounds; round++, wrong += WEXITSTATUS(status)) {
		pid_t child = syscall(SYS_fork);

		if (child == 0) {
			random_state += round;
			_exit(rounds_wrong(1) != 0);
		}
		MUST(waitpid(child, &status, 0) == child && WIFEXITED(status));
	}
	return wrong;
}

static long coroutine_rounds;
static int coroutine_wrong;

static void run_coroutine(void)
{
	coroutine_wrong = rounds_wrong(coroutine_rounds);
}

static int coroutine(long rounds)
{
	static char stack[256 * 1024];
	static ucontext_t this, that;

	coroutine_rounds = rounds;
	getcontext(&that);
	that.uc_stack.ss_sp = stack;
	that.uc_stack.ss_size = sizeof(stack);
	that.uc_link = &this;
	makecontext(&that, run_coroutine, 0);
	swapcontext(&this, &that);
	return coroutine_wrong;
}

static const struct {
	const char *name;
	int (*run)(long rounds);
} places[] = {
	{"here", here},
	{"new_thread", new_thread},
	{"new_process", new_process},
	{"coroutine", coroutine},
};

int main(int argc, char **argv)
{
	long rounds = argument(argc, argv, 1, 1000);

	random_state = 0x9e3779b97f4a7c15;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (argc < 3 || strcmp(argv[2], places[i].name) == 0)
			printf("%s: %d differences\n", places[i].name, places[i].run(rounds));
	return 0;
}
