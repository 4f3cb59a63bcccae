// SPDX-License-Identifier: MIT
// Faulting in pages of the session before they are written. Hot context; see pages.h.
#include "shim/hot/pages.h"

#include <sys/mman.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/self.h"

#include "shim/hot/hot.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

bool pft_pages_reserve(void *start, size_t bytes)
{
	char *page = start;
	char *end = page + bytes;

	if (pft_sys_madvise(start, bytes, MADV_POPULATE_WRITE) == 0)
		return true;
	for (; page < end; page += PFT_PAGE)
		if (pft_sys_clock_gettime(CLOCK_MONOTONIC, (struct timespec *)page) < 0)
			return false;
	return true;
}
