// SPDX-License-Identifier: MIT
// Small pieces of code that load an index and jump; see lazy.h. Called by slots.c.
// The rule: memory is writable or executable, never both.
#include "shim/lazy.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"

#define ENDBR64 0xf3, 0x0f, 0x1e, 0xfa

struct pft_lazy_way {
	unsigned char landing[4]; // endbr64: it is called through a pointer
	unsigned char load[2]; // mov $index, %r11d
	uint32_t index;
	unsigned char jump[6]; // jmp *head(%rip)
	const void *head;
} __attribute__((packed));

_Static_assert(sizeof(struct pft_lazy_way) == 24, "nothing lies between the instructions");

bool pft_lazy_wants_index(const void *entry)
{
	// endbr64; push %r11; push map(%rip). A displacement follows.
	static const unsigned char head[] = {ENDBR64, 0x41, 0x53, 0xff, 0x35};

	return memcmp(entry, head, sizeof(head)) == 0;
}

static size_t count_ways(const struct pft_slots_change *change)
{
	size_t count = 0;

	for (size_t i = 0; i < change->count; i++)
		count += change->plans[i].slot.wants_index;
	return count;
}

static void lead(struct pft_lazy_way *way, struct pft_slot *slot)
{
	*way = (struct pft_lazy_way){.landing = {ENDBR64},
		.load = {0x41, 0xbb},
		.index = (uint32_t)slot->index,
		.jump = {0xff, 0x25}, // displacement 0: to what follows
		.head = slot->value};
	slot->value = way;
}

int pft_lazy_make_ways(struct pft_slots_change *change)
{
	size_t count = count_ways(change), bytes = count * sizeof(struct pft_lazy_way);
	struct pft_lazy_way *way;

	if (count == 0)
		return 0;
	way = pft_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pft_sys_failed(way))
		return -ENOMEM;
	change->kept.ways = way;
	change->kept.way_count = count;
	for (size_t i = 0; i < change->count; i++)
		if (change->plans[i].slot.wants_index)
			lead(way++, &change->plans[i].slot);
	return (int)pft_sys_mprotect(change->kept.ways, bytes, PROT_READ | PROT_EXEC);
}

void pft_lazy_unmap(struct pft_lazy_way *ways, size_t count)
{
	if (ways)
		pft_sys_munmap(ways, count * sizeof(*ways));
}
