// SPDX-License-Identifier: MIT
// What libiberty gets in place of libc's functions, which may be the program's own (malloc) or look at a
// locale that the flusher's bare thread does not have (sprintf), and in place of the caller's stack, which
// may be small. Startup, app and flusher context, by way of demangle.c. The rule: one thread at a time, so
// that one pointer says whose arena is meant, and one stack is enough.
#include "encoder/libiberty.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"

// The demanglers recurse and keep their tables on the stack. Names that were made up to hurt took 500 KiB.
#define STACK_BYTES ((size_t)1 << 20)

// Only for the thread that holds `inside`; handed over by its acquire and release.
static struct pft_arena *arena_now;
static char *stack; // mapped at the first run and kept
static uint32_t inside; // pid of the process whose thread it is: a fork may copy it

static bool stack_map(void)
{
	void *memory;

	if (stack != NULL)
		return true;
	memory = pft_sys_mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (pft_sys_failed(memory))
		return false;
	stack = memory;
	return true;
}

// The callee keeps rbx, and with it the way back to our own stack. What else a call may change is said to be
// changed (psABI 3.2.3); the x87 and mask registers are not in use here.
static void call_on_stack(char *top, void (*work)(void *context), void *context)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "call *%[work]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(context)
			 : [top] "r"(top), [work] "r"(work)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
			 "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
			 "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

static bool try_enter(void)
{
	uint32_t self = (uint32_t)pft_sys_getpid();
	uint32_t other = __atomic_load_n(&inside, __ATOMIC_RELAXED);

	return other != self &&
	       __atomic_compare_exchange_n(&inside, &other, self, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// A name takes microseconds. Who is inside for longer was stopped, or is the caller, interrupted by a signal.
static bool enter(void)
{
	const struct timespec nap = {0, 100000};
	unsigned naps_left = 100;

	while (!try_enter()) {
		if (!naps_left--)
			return false;
		pft_sys2(SYS_nanosleep, &nap, NULL);
	}
	return true;
}

bool pft_libiberty_run(struct pft_arena *arena, void (*work)(void *context), void *context)
{
	bool ready;

	if (!enter())
		return false;
	ready = stack_map();
	if (ready) {
		arena_now = arena;
		call_on_stack(stack + STACK_BYTES, work, context);
		arena_now = NULL;
	}
	__atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
	return ready;
}

// An arena does not know how large its pieces are; realloc must.
struct piece {
	_Alignas(16) size_t size;
	_Alignas(16) char bytes[];
};

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

void *__wrap_malloc(size_t size)
{
	struct piece *piece;

	if (arena_now == NULL || size > PTRDIFF_MAX)
		return NULL;
	piece = pft_arena_alloc(arena_now, sizeof *piece + size);
	if (piece == NULL)
		return NULL;
	piece->size = size;
	return piece->bytes;
}

void *__wrap_calloc(size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : __wrap_malloc(bytes);
}

void *__wrap_realloc(void *memory, size_t size)
{
	const struct piece *old = memory == NULL ? NULL : (struct piece *)memory - 1;
	void *moved = __wrap_malloc(size);

	if (moved != NULL && old != NULL)
		memcpy(moved, memory, old->size < size ? old->size : size);
	return moved;
}

void __wrap_free(void *memory)
{
	(void)memory; // the arena's owner gives everything back at once
}

// The demanglers print numbers in these three formats and nothing else. `text` is where one lands.
static int print(struct pft_text text, const char *format, va_list arguments)
{
	if (strcmp(format, "%d") == 0) {
		int64_t number = va_arg(arguments, int);

		if (number < 0)
			pft_text_add(&text, "-");
		pft_text_add_number(&text, (uint64_t)(number < 0 ? -number : number));
	} else if (strcmp(format, "%lu") == 0) {
		pft_text_add_number(&text, va_arg(arguments, unsigned long));
	} else if (strcmp(format, "%lx") == 0) {
		pft_text_add_hex(&text, va_arg(arguments, unsigned long));
	}
	return (int)text.used;
}

// The longest of those texts, a sign and a NUL: what plain sprintf's caller has room for at least.
#define NUMBER_BYTES 22

int __wrap_sprintf(char *out, const char *format, ...);
int __wrap_snprintf(char *out, size_t size, const char *format, ...);
int __wrap___sprintf_chk(char *out, int flag, size_t size, const char *format, ...);
int __wrap___snprintf_chk(char *out, size_t size, int flag, size_t room, const char *format, ...);

int __wrap_sprintf(char *out, const char *format, ...)
{
	va_list arguments;
	int used;

	va_start(arguments, format);
	used = print(pft_text_in(out, NUMBER_BYTES), format, arguments);
	va_end(arguments);
	return used;
}

int __wrap_snprintf(char *out, size_t size, const char *format, ...)
{
	va_list arguments;
	int used;

	va_start(arguments, format);
	used = print(pft_text_in(out, size), format, arguments);
	va_end(arguments);
	return used;
}

// With _FORTIFY_SOURCE the compiler calls these: `flag` is its level, `size` and `room` are the buffer's.
int __wrap___sprintf_chk(char *out, int flag, size_t size, const char *format, ...)
{
	va_list arguments;
	int used;

	(void)flag;
	va_start(arguments, format);
	used = print(pft_text_in(out, size), format, arguments);
	va_end(arguments);
	return used;
}

int __wrap___snprintf_chk(char *out, size_t size, int flag, size_t room, const char *format, ...)
{
	va_list arguments;
	int used;

	(void)flag;
	(void)room;
	va_start(arguments, format);
	used = print(pft_text_in(out, size), format, arguments);
	va_end(arguments);
	return used;
}
