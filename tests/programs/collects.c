// SPDX-License-Identifier: MIT
// The only pointer to an object is in rbx while a collector looks for it, called directly and by qsort.
// build: -lcalls -lcollects
#include "tests/programs/collects.h"

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

// f(context) with ~hidden in rbx; rbx as f left it.
const char *hold(void (*f)(void), uintptr_t hidden);
__asm__(".globl hold\n.type hold, @function\nhold:\n"
	"push %rbx\nmov %rsi, %rbx\nnot %rbx\nxor %esi, %esi\ncall *%rdi\n"
	"mov %rbx, %rax\npop %rbx\nret\n.size hold, . - hold");

static int collect(const void *a, const void *b)
{
	(void)a;
	(void)b;
	GC_gcollect();
	return 0;
}

static void directly(void)
{
	GC_gcollect();
}

static void below_qsort(void)
{
	char two[2] = "ab";

	qsort(two, 2, 1, collect);
}

int main(void)
{
	leaf();
	puts(hold(directly, collects_hidden()));
	puts(hold(below_qsort, collects_hidden()));
	return 0;
}
