// SPDX-License-Identifier: MIT
// Faulting in pages of the session before they are written. Hot context; see pages.h.
#include "shim/hot/pages.h"

#include <linux/futex.h>
#include <stdint.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/self.h"

#include "shim/hot/hot.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

// The kernel adds 0 to the word, and answers EFAULT where our own store would raise SIGBUS (futex(2)).
static bool touch(char *page)
{
	return pft_sys6(SYS_futex, (long)page, FUTEX_WAKE_OP, 0, 0, (long)page,
		       FUTEX_OP(FUTEX_OP_ADD, 0, 0, 0)) >= 0;
}

bool pft_pages_reserve(void *start, size_t bytes)
{
	char *page = (char *)((uintptr_t)start & -(uintptr_t)PFT_PAGE);
	char *end = (char *)start + bytes;

	if (pft_sys_mprotect(page, (size_t)(end - page), PROT_READ | PROT_WRITE) < 0)
		return false;
	if (pft_sys_madvise(page, (size_t)(end - page), MADV_POPULATE_WRITE) == 0)
		return true;
	for (; page < end; page += PFT_PAGE)
		if (!touch(page))
			return false;
	return true;
}
