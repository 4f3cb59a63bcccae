// SPDX-License-Identifier: MIT
// Calls several thousand functions of a library, each once, each through a slot of its own.
// build: -lmany -Wl,-z,lazy
#include "tests/programs/common.h"

void call_many(void);

__asm__(".altmacro\n"
	".macro call_one number\n"
	"	call	many_\\number@PLT\n"
	".endm\n"
	"	.type	call_many, @function\n"
	"call_many:\n"
	"	sub	$8, %rsp\n"
	".set	i, 0\n"
	".rept	5000\n"
	"	call_one %i\n"
	"	.set	i, i + 1\n"
	".endr\n"
	"	add	$8, %rsp\n"
	"	ret\n"
	"	.size	call_many, . - call_many\n");

int main(void)
{
	call_many();
	puts("5000 calls");
	return 0;
}
