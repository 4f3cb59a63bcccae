// SPDX-License-Identifier: MIT
// A function written in assembly that calls another one without aligning the stack first: the two return
// addresses lie next to each other.
__asm__("	.text\n"
	"	.globl	crooked\n"
	"	.type	crooked, @function\n"
	"crooked:\n"
	"	.cfi_startproc\n"
	"	call	leaf@PLT\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	crooked, . - crooked\n");
