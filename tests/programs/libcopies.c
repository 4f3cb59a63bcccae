// SPDX-License-Identifier: MIT
// Coroutines that share one piece of stack, as greenlet's do: what one has there is copied away when it rests
// and back when it goes on, while nobody runs on that stack. build: -z noexecstack
#include "tests/programs/copies.h"

#include <string.h>

#define OWN_BYTES 65536

static char own_stack[OWN_BYTES] __attribute__((aligned(16), used));
static struct copy *current;
static char *base; // of the shared piece; the callee-saved registers of who started or resumed lie there

// Saves the registers that a callee must, then goes on in `continues(rsp)`, on a stack of our own. What that
// answers is the new rsp, where saved registers and a return address lie.
#define SWITCH(name, continues)                                                                              \
	__asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n"                                 \
		"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"                         \
		"mov %rdi, %rsi; mov %rsp, %rdi; lea own_stack+65536(%rip), %rsp\n"                          \
		"call " #continues "\nmov %rax, %rsp\n"                                                      \
		"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n"                          \
		".size " #name ", . - " #name "\n")

// A new coroutine finds as its registers' and return address's place what leads to begin.
static void begin(void)
{
	struct copy *copy = current;

	copy->body(copy);
	copy->is_over = true;
	copies_rest();
	__builtin_unreachable();
}

__attribute__((used)) static char *go_on(char *stack, struct copy *copy)
{
	current = copy;
	base = stack;
	if (copy->size == 0) {
		// Six registers, begin, where begin would return to, and one word that aligns the stack.
		uintptr_t *fresh = (uintptr_t *)stack - 9;

		memset(fresh, 0, 9 * sizeof(*fresh));
		fresh[6] = (uintptr_t)begin;
		return (char *)fresh;
	}
	memcpy(stack - copy->size, copy->bytes, copy->size);
	return stack - copy->size;
}

__attribute__((used)) static char *rest(char *stack)
{
	current->size = (size_t)(base - stack);
	if (current->size > sizeof(current->bytes))
		__builtin_trap();
	memcpy(current->bytes, stack, current->size);
	return base;
}

SWITCH(copies_go_on, go_on);
SWITCH(copies_rest, rest);
