// SPDX-License-Identifier: MIT
// Several thousand functions, many_0 to many_4999, each of which returns.
__asm__(".altmacro\n"
	".macro define number\n"
	"	.globl	many_\\number\n"
	"	.type	many_\\number, @function\n"
	"many_\\number:\n"
	"	ret\n"
	"	.size	many_\\number, 1\n"
	".endm\n"
	".set	i, 0\n"
	".rept	5000\n"
	"	define	%i\n"
	"	.set	i, i + 1\n"
	".endr\n");
