// SPDX-License-Identifier: MIT
// Calls whose stacks the test knows: stacks SCENARIO [NUMBER].
// build: -fno-optimize-sibling-calls -fno-inline -rdynamic -lcalls
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static long number;

int second(void)
{
	leaf();
	return 1;
}

int first(void)
{
	return second() + 1;
}

// ---- as backtrace(3) says ---------------------------------------------------------------------------

int says_backtrace(void *file)
{
	void *addresses[64];
	int count = backtrace(addresses, 64);

	for (int i = count; i-- > 0;) {
		Dl_info about;

		fprintf(file, "%s\n",
			dladdr((char *)addresses[i] - 1, &about) && about.dli_sname ? about.dli_sname : "?");
	}
	leaf();
	return 1;
}

void compared(void)
{
	FILE *side = side_open("backtrace");

	through(says_backtrace, side);
	fclose(side);
}

// ---- recursion --------------------------------------------------------------------------------------

long descend(long n)
{
	volatile char frame[40] = {(char)n};

	if (n == 0)
		leaf();
	else
		descend(n - 1);
	return frame[0];
}

static void recursion(void)
{
	descend(number);
}

// ---- what cannot be walked --------------------------------------------------------------------------

// No unwind tables say anything of it.
__asm__(".text\n"
	".type without_tables, @function\n"
	"without_tables:\n"
	"	sub $8, %rsp\n"
	"	call second\n"
	"	add $8, %rsp\n"
	"	ret\n"
	".size without_tables, . - without_tables\n");
int without_tables(void);

static void untold(void)
{
	without_tables();
}

// Its caller finds its own frame through rbp, which is led astray while the call is made.
__attribute__((optimize("no-omit-frame-pointer"))) int crooked(uintptr_t rbp)
{
	volatile uintptr_t *saved = __builtin_frame_address(0);
	uintptr_t kept = *saved;

	*saved = rbp;
	leaf();
	*saved = kept;
	return 1;
}

__attribute__((optimize("no-omit-frame-pointer"))) int calls_crooked(uintptr_t rbp)
{
	volatile char *room = __builtin_alloca(number + 16);

	room[0] = 1;
	return crooked(rbp) + room[0];
}

static void crooked_chain(void)
{
	static const uintptr_t places[] = {
		0, 8, 0x1000, 0x123456789, 0x7ffffffff000, ~UINT64_C(7), ~UINT64_C(0)};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		calls_crooked(places[i]);
	calls_crooked((uintptr_t)&places);
	calls_crooked((uintptr_t)__builtin_frame_address(0) + 64);
}

// Code that a compiler in the program would have made: it calls what it is given.
static void made_code(void)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	int (*made)(int (*)(void)) =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	MUST(made != MAP_FAILED);
	memcpy((void *)made, code, sizeof(code));
	for (long i = 0; i < number; i++)
		MUST(made(first) == 2);
}

// ---- other ------------------------------------------------------------------------------------------

static void forked(void)
{
	pid_t child;

	first();
	fflush(stdout);
	child = fork();
	if (child == 0) {
		first();
		exit(0);
	}
	MUST(child > 0 && waitpid(child, NULL, 0) == child);
	first();
}

int sleeps(void *ms)
{
	usleep((useconds_t)(1000 * (uintptr_t)ms));
	return 1;
}

static void slow(void)
{
	for (uintptr_t i = 0; i < 5; i++)
		through(sleeps, (void *)(i == 3 ? UINT64_C(60) : 0));
}

static void *threads_first(void *unused)
{
	for (long i = 0; i < number; i++)
		first();
	return unused;
}

static void threads(void)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		all[i] = thread_start(threads_first, NULL);
	for (int i = 0; i < 4; i++)
		thread_join(all[i]);
}

static const struct {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{"compared", compared},
	{"recursion", recursion},
	{"untold", untold},
	{"crooked", crooked_chain},
	{"made", made_code},
	{"forked", forked},
	{"slow", slow},
	{"threads", threads},
};

int main(int argc, char **argv)
{
	number = argument(argc, argv, 2, 1);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		if (argc > 1 && strcmp(argv[1], scenarios[i].name) == 0)
			scenarios[i].run();
	puts("done");
	return 0;
}
