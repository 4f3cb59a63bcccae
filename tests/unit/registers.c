// SPDX-License-Identifier: MIT
// Patterns for all registers: see registers.h. Called by unit tests.
#include "tests/unit/registers.h"

#include <string.h>

// Places in the XSAVE area (SDM 1, 13.4.1 and 13.4.2).
#define FCW 0
#define FTW 4
#define MXCSR 24
#define ST0 32
#define XMM0 160
#define XMM15_END 416
#define XSTATE_BV 512

static void fill_general(struct registers *set, uint64_t seed)
{
	uint64_t *words = (uint64_t *)set;

	for (size_t i = 0; i < offsetof(struct registers, pad) / sizeof(*words); i++)
		words[i] = seed * (i + 1);
}

// Rounding modes other than the usual, all eight x87 registers in use, nothing that raises an exception.
static void fill_legacy(uint8_t *area, uint64_t seed)
{
	const uint16_t control = seed & 1 ? 0x0f7f : 0x067f;
	const uint32_t mxcsr = seed & 1 ? 0x7f80 : 0x3f80;

	memcpy(area + FCW, &control, sizeof(control));
	memcpy(area + MXCSR, &mxcsr, sizeof(mxcsr));
	area[FTW] = 0xff;
	for (unsigned i = 0; i < 8; i++) {
		const uint64_t significand = UINT64_C(1) << 63 | (seed + i);
		const uint16_t exponent = (uint16_t)(0x3fff + i);

		memcpy(area + ST0 + 16 * i, &significand, sizeof(significand));
		memcpy(area + ST0 + 16 * i + 8, &exponent, sizeof(exponent));
	}
	for (unsigned i = XMM0; i < XMM15_END; i++)
		area[i] = (uint8_t)(seed * i);
}

static uint32_t enabled_components(void)
{
	uint32_t low, high;

	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low & 0xe7;
}

static void component_place(unsigned component, uint32_t *at, uint32_t *bytes)
{
	uint32_t ecx = component, edx;

	__asm__("cpuid" : "=a"(*bytes), "=b"(*at), "+c"(ecx), "=d"(edx) : "a"(0xd));
}

static void fill_extended(uint8_t *area, uint64_t seed)
{
	const uint64_t components = enabled_components();

	fill_legacy(area, seed);
	for (unsigned component = 2; component < 8; component++) {
		uint32_t at, bytes;

		if (!(components >> component & 1))
			continue;
		component_place(component, &at, &bytes);
		for (uint32_t i = at; i < at + bytes; i++)
			area[i] = (uint8_t)(seed * i);
	}
	memcpy(area + XSTATE_BV, &components, sizeof(components));
}

void registers_fill(void)
{
	fill_general(&registers_passed, UINT64_C(0x0123456789abcdef));
	fill_extended(registers_passed.extended, 0x31);
	fill_general(&registers_given, UINT64_C(0xfedcba9876543211));
	fill_extended(registers_given.extended, 0x72);
}
