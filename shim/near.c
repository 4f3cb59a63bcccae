// SPDX-License-Identifier: MIT
// Finds room near an object; see near.h. The kernel takes the place that it is asked for when that is free,
// and else whichever it likes, which is near too for a shared object.
// The rule: nothing is put close above an object. The heap of the program grows there.
#include "shim/near.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"

#define REACH (UINT64_C(1) << 31)
#define PAGE_BYTES UINT64_C(4096)
#define STEP_FIRST (UINT64_C(1) << 16)
#define STEP_LAST (UINT64_C(1) << 30)

static bool is_near(uintptr_t at, size_t bytes, uintptr_t low, uintptr_t high)
{
	// Behind the displacement of an instruction there may be an immediate: REACH is not used to the last
	// bytes.
	uintptr_t first = at < low ? at : low, end = at + bytes > high ? at + bytes : high;

	return end - first < REACH - PAGE_BYTES;
}

static void *map_at(uintptr_t hint, uintptr_t low, uintptr_t high, size_t bytes)
{
	void *memory =
		pft_sys_mmap((void *)hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pft_sys_failed(memory))
		return NULL;
	if (is_near((uintptr_t)memory, bytes, low, high))
		return memory;
	pft_sys_munmap(memory, bytes);
	return NULL;
}

void *pft_near_map(uintptr_t low, uintptr_t high, size_t bytes)
{
	uintptr_t below = (low - bytes) & -PAGE_BYTES;
	void *memory = low > bytes ? map_at(below, low, high, bytes) : NULL;

	for (uint64_t step = STEP_FIRST; step <= STEP_LAST && step < below && !memory; step *= 2)
		memory = map_at(below - step, low, high, bytes);
	for (uint64_t step = STEP_LAST; step >= STEP_FIRST && !memory; step /= 2)
		memory = map_at((high + step) & -PAGE_BYTES, low, high, bytes);
	return memory;
}
