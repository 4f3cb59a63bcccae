// SPDX-License-Identifier: MIT
// Holding the program's signals off for what must be done whole: a handler that came in the middle and left
// by siglongjmp would leave it half done for ever. Hot context, slow path: two system calls.
#ifndef PFT_SIGNALS_H
#define PFT_SIGNALS_H

#include <signal.h>
#include <stdint.h>

#include "encoder/base/sys_x86_64.h"

#define PFT_SIGNAL(number) (UINT64_C(1) << ((number)-1))

// What the processor raises at an instruction cannot be held: the kernel kills who blocks it and gets it. A
// program may step itself, or a debugger's breakpoint lie here.
#define PFT_SIGNALS_AT_ONCE                                                                                  \
	(PFT_SIGNAL(SIGTRAP) | PFT_SIGNAL(SIGSEGV) | PFT_SIGNAL(SIGBUS) | PFT_SIGNAL(SIGFPE) |               \
		PFT_SIGNAL(SIGILL))

// Returns what was blocked before, to be given to the release.
static inline uint64_t pft_signals_hold(void)
{
	const uint64_t held = ~PFT_SIGNALS_AT_ONCE;
	uint64_t before = 0;

	pft_sys4(SYS_rt_sigprocmask, SIG_BLOCK, &held, &before, sizeof(held));
	return before;
}

static inline void pft_signals_release(uint64_t before)
{
	pft_sys4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

#endif
