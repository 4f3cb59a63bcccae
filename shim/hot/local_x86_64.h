// SPDX-License-Identifier: MIT
// A compare-and-swap against handlers on the same thread only. Hot context. Without the lock prefix it costs
// a tenth; a signal handler comes between two instructions, never into one. x86 makes the stores before it
// visible to other processors before it (SDM 3A, 9.2.2), so a reader that loads with acquire finds them.
#ifndef PFT_LOCAL_X86_64_H
#define PFT_LOCAL_X86_64_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __SANITIZE_THREAD__

// ThreadSanitizer sees through no assembly.
static inline bool pft_local_swap(uint64_t *word, uint64_t old, uint64_t fresh)
{
	return __atomic_compare_exchange_n(word, &old, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

#else

static inline bool pft_local_swap(uint64_t *word, uint64_t old, uint64_t fresh)
{
	uint64_t found = old;

	__asm__ volatile("cmpxchg %2, %0" : "+m"(*word), "+a"(found) : "r"(fresh) : "cc", "memory");
	return found == old;
}

#endif

#endif
