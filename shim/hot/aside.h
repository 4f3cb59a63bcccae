// SPDX-License-Identifier: MIT
// Running ordinary code in the middle of anything: see aside_x86_64.S. Hot context.
#ifndef PFT_ASIDE_H
#define PFT_ASIDE_H

#include <cpuid.h>
#include <stdbool.h>

// Runs `run` on the stack that ends at `stack_end`, and gives back every register as it was, but for the
// answer. `area`, zeroed before its first use, takes the vector registers, by XSAVE where there is one. Both
// are aligned to 64 and are used by one thread at a time.
bool pft_aside(bool (*run)(void), void *stack_end, void *area, bool xsave);

static inline bool pft_aside_has_xsave(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_OSXSAVE);
}

#endif
