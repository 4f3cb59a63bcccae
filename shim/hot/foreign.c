// SPDX-License-Identifier: MIT
// The table of foreign frame records: a hash of chains that only grow. Hot context. Insertion is one
// compare-and-swap of a chain's head, so readers need nothing, and a handler that interrupts an insertion
// at worst wastes the record that was about to be inserted.
#include "shim/hot/foreign.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/pages.h"
#include "shim/hot/self.h"
#include "shim/hot/hot.h"

#define CHAINS 4096
#define BLOCK_BYTES 65536

struct entry {
	struct pft_foreign_record record; // first: a record's address is its entry's
	struct entry *next;
};

struct block {
	uint64_t used;
	struct entry entries[];
};

#define BLOCK_ENTRIES ((BLOCK_BYTES - sizeof(struct block)) / sizeof(struct entry))

static struct entry *chains[CHAINS];
static struct block *newest;

// Slots are 8-byte aligned and stacks page-aligned: the middle bits tell them apart best.
static struct entry **chain_of(uintptr_t slot)
{
	return &chains[(slot * UINT64_C(0x9e3779b97f4a7c15)) >> 52];
}

static struct block *map_block(void)
{
	void *at =
		pft_sys_mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pft_sys_failed(at) ? NULL : at;
}

static struct entry *new_entry(void)
{
	for (;;) {
		struct block *block = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
		struct block *fresh;
		uint64_t index = BLOCK_ENTRIES;

		if (block)
			index = __atomic_fetch_add(&block->used, 1, __ATOMIC_RELAXED);
		if (index < BLOCK_ENTRIES)
			return &block->entries[index];
		fresh = map_block();
		if (!fresh)
			return NULL;
		if (!__atomic_compare_exchange_n(
			    &newest, &block, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			pft_sys_munmap(fresh, BLOCK_BYTES);
	}
}

static struct entry *find(struct entry *entry, uintptr_t slot)
{
	while (entry && entry->record.frame.slot != slot)
		entry = entry->next;
	return entry;
}

static bool reserve(uint64_t generation)
{
	struct pft_commit *commit = pft_session_commit(pft_session, generation);

	return pft_pages_reserve(
		pft_commit_foreign(pft_session, commit), PFT_FOREIGN_MAX * sizeof(struct pft_open_foreign));
}

// Threads that come at once do it all: what one of them records is listed from its first call on.
void pft_foreign_make_room(void)
{
	static uint32_t refused_in; // process: the session of a forked child is a new one

	if (__atomic_load_n(&pft_session->foreign_max, __ATOMIC_RELAXED) ||
		__atomic_load_n(&refused_in, __ATOMIC_RELAXED) == pft_session->pid)
		return;
	if (reserve(0) && reserve(1))
		__atomic_store_n(&pft_session->foreign_max, PFT_FOREIGN_MAX, __ATOMIC_RELEASE);
	else
		__atomic_store_n(&refused_in, pft_session->pid, __ATOMIC_RELAXED);
}

struct pft_frame *pft_foreign_find(uintptr_t slot)
{
	struct entry *found = find(__atomic_load_n(chain_of(slot), __ATOMIC_ACQUIRE), slot);

	return found ? &found->record.frame : NULL;
}

struct pft_frame *pft_foreign_frame(uintptr_t slot)
{
	struct entry **chain = chain_of(slot);
	struct entry *first = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
	struct entry *found = find(first, slot);
	struct entry *fresh;

	if (found)
		return &found->record.frame;
	fresh = new_entry();
	if (!fresh)
		return NULL;
	fresh->record.frame.slot = slot;
	do {
		// A stack is run by one thread at a time, so nobody else inserts this very slot.
		fresh->next = first;
	} while (
		!__atomic_compare_exchange_n(chain, &first, fresh, true, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
	return &fresh->record.frame;
}
