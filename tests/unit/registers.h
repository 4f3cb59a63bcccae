// SPDX-License-Identifier: MIT
// A caller and a callee that see and set every register: for tests of what lies between them. Called by unit
// tests, one thread at a time. The state of x87 and of the vector registers is that of XSAVE, in its standard
// format (SDM 1, 13.4).
#ifndef PFT_TESTS_REGISTERS_H
#define PFT_TESTS_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#define REGISTERS_STACK_WORDS 5

struct registers {
	uint64_t rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11;
	uint64_t rbx, rbp, r12, r13, r14, r15;
	uint64_t rsp, flags;
	uint64_t stack[REGISTERS_STACK_WORDS]; // from rsp on
	uint64_t pad[2];
	uint8_t extended[2688] __attribute__((aligned(64)));
};

_Static_assert(offsetof(struct registers, rsp) == 120, "registers_x86_64.S");
_Static_assert(offsetof(struct registers, stack) == 136, "registers_x86_64.S");
_Static_assert(offsetof(struct registers, extended) == 192, "registers_x86_64.S");

// What the caller has at the call, what the callee finds at its entry, what the callee has at its return, and
// what the caller finds behind the call.
extern struct registers registers_passed, registers_entered, registers_given, registers_returned;

// Fills what is passed and what is given with patterns that are unlike.
void registers_fill(void);

// Calls `function` with all of registers_passed but rsp and flags; the words of its stack but the first,
// which is the return address, stand above the call's slot.
void registers_call(void *function);

// To be the function that is called in the end. It changes its stack arguments, as it may.
void registers_callee(void);

// Trashes everything that a function may change, and the extended registers.
void registers_trash(void);

#endif
