// SPDX-License-Identifier: MIT
// Calls each generated function through its slot and through a pointer and compares every byte that either
// side saw: arguments, results, the registers that a callee preserves, and the control words.
// signatures ROUNDS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/signatures/signatures.h"

// Generated: all tables, NULL behind the last; each ends with a signature without a name.
extern const struct signature *const signature_tables[];

enum { SAVED = 6 }; // rbx, rbp, r12..r15

struct guard {
	uint64_t given[SAVED], found[SAVED];
	uint32_t mxcsr_given, mxcsr_found;
	uint16_t control_given, control_found;
};

// Calls with the registers that `guard` gives, and notes what is in them afterwards.
void call_guarded(void (*call)(void), struct guard *guard);

_Static_assert(offsetof(struct guard, found) == 48, "call_guarded");
_Static_assert(offsetof(struct guard, mxcsr_given) == 96, "call_guarded");
_Static_assert(offsetof(struct guard, control_given) == 104, "call_guarded");

__asm__("	.text\n"
	"	.type	call_guarded, @function\n"
	"call_guarded:\n"
	"	.cfi_startproc\n"
	"	.irp	register, rbx, rbp, r12, r13, r14, r15, rsi\n"
	"	push	%\\register\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_rel_offset \\register, 0\n"
	"	.endr\n"
	"	sub	$16, %rsp\n"
	"	.cfi_adjust_cfa_offset 16\n"
	"	stmxcsr	(%rsp)\n"
	"	fnstcw	4(%rsp)\n"
	"	ldmxcsr	96(%rsi)\n"
	"	fldcw	104(%rsi)\n"
	"	mov	(%rsi), %rbx\n"
	"	mov	8(%rsi), %rbp\n"
	"	mov	16(%rsi), %r12\n"
	"	mov	24(%rsi), %r13\n"
	"	mov	32(%rsi), %r14\n"
	"	mov	40(%rsi), %r15\n"
	"	call	*%rdi\n"
	"	mov	16(%rsp), %rsi\n"
	"	mov	%rbx, 48(%rsi)\n"
	"	mov	%rbp, 56(%rsi)\n"
	"	mov	%r12, 64(%rsi)\n"
	"	mov	%r13, 72(%rsi)\n"
	"	mov	%r14, 80(%rsi)\n"
	"	mov	%r15, 88(%rsi)\n"
	"	stmxcsr	100(%rsi)\n"
	"	fnstcw	106(%rsi)\n"
	"	ldmxcsr	(%rsp)\n"
	"	fldcw	4(%rsp)\n"
	"	add	$16, %rsp\n"
	"	.cfi_adjust_cfa_offset -16\n"
	"	.irp	register, rsi, r15, r14, r13, r12, rbp, rbx\n"
	"	pop	%\\register\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	.cfi_restore \\register\n"
	"	.endr\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	call_guarded, . - call_guarded\n");

static uint64_t random_state = 0x9e3779b97f4a7c15;

// All exceptions masked; any rounding, precision and modes. No flags: they would be the compiler's to raise.
static uint32_t random_mxcsr(void)
{
	return 0x1f80 | (random_word(&random_state) & 0xe040);
}

static uint16_t random_control(void)
{
	return 0x007f | (random_word(&random_state) & 0x0f00);
}

static int registers_differ(const struct guard *guard, uint32_t mxcsr, uint16_t control)
{
	return memcmp(guard->given, guard->found, sizeof(guard->given)) != 0 || guard->mxcsr_found != mxcsr ||
	       guard->control_found != control;
}

static size_t first_difference(const struct exchange *a, const struct exchange *b)
{
	size_t i = 0;

	while (i < a->count && i < b->count && a->seen[i] == b->seen[i])
		i++;
	return i;
}

// 1 when anything was not as it should be.
static int call_differs(const struct signature *signature, void (*call)(void), const char *way)
{
	static struct exchange expected;
	struct exchange *found = exchange_of_library();
	struct guard guard = {.mxcsr_given = random_mxcsr(), .control_given = random_control()};
	uint64_t result_seed = random_word(&random_state);

	signature->give(&random_state);
	fill(&random_state, guard.given, sizeof(guard.given));
	expected.count = found->count = 0;
	see(&expected, &guard.mxcsr_given, sizeof(guard.mxcsr_given));
	see(&expected, &guard.control_given, sizeof(guard.control_given));
	see_number(&expected, 0);
	signature->expect(&expected);
	found->result_seed = result_seed;
	found->new_mxcsr = signature->changes_control ? random_mxcsr() : guard.mxcsr_given;
	found->new_control = signature->changes_control ? random_control() : guard.control_given;
	call_guarded(call, &guard);
	signature->find_result(found);
	signature->expect_result(&expected, &result_seed);
	if (registers_differ(&guard, found->new_mxcsr, found->new_control)) {
		printf("%s %s: a register that it must preserve\n", signature->name, way);
		return 1;
	}
	if (found->count != expected.count || memcmp(found->seen, expected.seen, found->count) != 0) {
		printf("%s %s: byte %zu of %zu\n", signature->name, way, first_difference(found, &expected),
			expected.count);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 10;
	long functions = 0, differences = 0;

	for (const struct signature *const *table = signature_tables; *table; table++)
		for (const struct signature *signature = *table; signature->name; signature++, functions++)
			for (long round = 0; round < rounds; round++) {
				differences +=
					call_differs(signature, signature->through_pointer, "by pointer");
				differences += call_differs(signature, signature->through_slot, "by name");
			}
	printf("%ld functions, %ld rounds, %ld differences\n", functions, rounds, differences);
	return differences > 0;
}
