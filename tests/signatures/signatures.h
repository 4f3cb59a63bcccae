// SPDX-License-Identifier: MIT
// What generated callers and callees (tests/run/signatures.py) say to each other, in C and C++. Values are
// filled and looked at byte by byte, with integer instructions only: no conversion touches them.
#ifndef PFT_TESTS_SIGNATURES_H
#define PFT_TESTS_SIGNATURES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a callee saw, and what it is to give.
struct exchange {
	uint64_t result_seed;
	uint32_t new_mxcsr; // for those that change the control words
	uint16_t new_control;
	size_t count;
	unsigned char seen[32768];
};

struct exchange *exchange_of_library(void);

struct signature {
	const char *name;
	void (*through_slot)(void);
	void (*through_pointer)(void);
	void (*give)(uint64_t *random); // sets the arguments of the next call
	void (*expect)(struct exchange *expected); // looks at those arguments
	void (*expect_result)(struct exchange *expected, uint64_t *random);
	void (*find_result)(struct exchange *found); // looks at what came back
	int changes_control;
};

#ifdef __cplusplus
}
#endif

static inline uint64_t random_word(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static inline void fill(uint64_t *random, void *value, size_t bytes)
{
	unsigned char *at = (unsigned char *)value;

	while (bytes-- > 0)
		*at++ = (unsigned char)random_word(random);
}

static inline void fill_bool(uint64_t *random, void *value)
{
	*(unsigned char *)value = random_word(random) & 1;
}

static inline void see(struct exchange *exchange, const void *value, size_t bytes)
{
	const unsigned char *at = (const unsigned char *)value;

	while (bytes-- > 0 && exchange->count < sizeof(exchange->seen))
		exchange->seen[exchange->count++] = *at++;
}

static inline void see_number(struct exchange *exchange, uint64_t number)
{
	see(exchange, &number, sizeof(number));
}

// By each callee first. `aligned` is a local variable that the compiler aligned to 16, by what it assumes
// of the stack.
static __attribute__((noipa, unused)) void see_entry(struct exchange *exchange, const void *aligned)
{
	uint32_t mxcsr;
	uint16_t control;

	__asm__ volatile("stmxcsr %0; fnstcw %1" : "=m"(mxcsr), "=m"(control));
	see(exchange, &mxcsr, sizeof(mxcsr));
	see(exchange, &control, sizeof(control));
	see_number(exchange, (uintptr_t)aligned & 15);
}

static inline void change_control(const struct exchange *exchange)
{
	__asm__ volatile("ldmxcsr %0; fldcw %1" : : "m"(exchange->new_mxcsr), "m"(exchange->new_control));
}

// Arguments are the callee's to change, those on the stack as well (psABI 3.2.3).
static __attribute__((noipa, unused)) void spoil(volatile void *argument, size_t bytes)
{
	volatile unsigned char *at = (volatile unsigned char *)argument;

	while (bytes-- > 0)
		*at++ ^= 0xa5;
}

#endif
