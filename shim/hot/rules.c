// SPDX-License-Identifier: MIT
// The table of rules: see rules.h. Hot context. The rule: an entry that holds an address has held the
// address's rule from the moment that the address was stored. So entries are filled once an age, and
// forgetting all begins another age.
#include "shim/hot/rules.h"

#include "shim/hot/hot.h"

#define ENTRIES 65536u
#define TRIES 16u // that a search looks at
#define ADDRESS_BITS 47

struct entry {
	uint64_t tag; // address | age << ADDRESS_BITS; stored last
	uint64_t word;
};

static struct entry entries[ENTRIES];
static uint64_t age = 1;
static uint32_t kept; // in this age

#define KIND_BITS 3
#define CFA_BITS 20
#define BP_BITS 24

_Static_assert(KIND_BITS + CFA_BITS + BP_BITS + 16 <= 64, "a rule is one word");

bool pft_rule_pack(struct pft_rule rule, uint64_t *word)
{
	int64_t cfa = rule.cfa / 8, bp = rule.bp / 8;

	*word = (uint64_t)rule.kind | ((uint64_t)cfa & ((1u << CFA_BITS) - 1)) << KIND_BITS |
		((uint64_t)bp & ((1u << BP_BITS) - 1)) << (KIND_BITS + CFA_BITS) |
		(uint64_t)rule.mapping << (KIND_BITS + CFA_BITS + BP_BITS);
	return rule.cfa % 8 == 0 && rule.bp % 8 == 0 && cfa >= 0 && cfa < 1 << CFA_BITS &&
	       bp >= -(1 << (BP_BITS - 1)) && bp < 1 << (BP_BITS - 1);
}

struct pft_rule pft_rule_unpack(uint64_t word)
{
	uint64_t bp = word >> (KIND_BITS + CFA_BITS) << (64 - BP_BITS); // its sign at the top

	return (struct pft_rule){
		.kind = (enum pft_rule_kind)(word & ((1u << KIND_BITS) - 1)),
		.cfa = (int64_t)(word >> KIND_BITS & ((1u << CFA_BITS) - 1)) * 8,
		.bp = ((int64_t)bp >> (64 - BP_BITS)) * 8,
		.mapping = (uint32_t)(word >> (KIND_BITS + CFA_BITS + BP_BITS)),
	};
}

static uint64_t tag_of(uintptr_t address)
{
	return address | __atomic_load_n(&age, __ATOMIC_RELAXED) << ADDRESS_BITS;
}

static uint32_t place_of(uintptr_t address)
{
	return (uint32_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 48);
}

uint64_t pft_rules_find(uintptr_t address)
{
	uint64_t tag = tag_of(address);
	uint32_t place = place_of(address);

	for (uint32_t i = 0; i < TRIES; i++) {
		const struct entry *entry = &entries[(place + i) % ENTRIES];

		if (__atomic_load_n(&entry->tag, __ATOMIC_ACQUIRE) == tag)
			return __atomic_load_n(&entry->word, __ATOMIC_RELAXED);
	}
	return 0;
}

static bool is_of_age(const struct entry *entry)
{
	return entry->tag >> ADDRESS_BITS == age;
}

// An entry of an age before may be being read: its tag goes first.
static void fill(struct entry *entry, uintptr_t address, uint64_t word)
{
	__atomic_store_n(&entry->tag, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->word, word, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->tag, tag_of(address), __ATOMIC_RELEASE);
}

void pft_rules_keep(uintptr_t address, uint64_t word)
{
	uint32_t place = place_of(address);

	if (kept >= ENTRIES / 4 * 3)
		pft_rules_forget();
	for (uint32_t i = 0; i < TRIES; i++) {
		struct entry *entry = &entries[(place + i) % ENTRIES];

		if (is_of_age(entry))
			continue;
		fill(entry, address, word);
		kept++;
		return;
	}
}

void pft_rules_forget(void)
{
	uint64_t next = (age + 1) % (1u << (64 - ADDRESS_BITS));

	kept = 0;
	if (next == 0) { // ages come round
		for (uint32_t i = 0; i < ENTRIES; i++)
			__atomic_store_n(&entries[i].tag, 0, __ATOMIC_RELAXED);
		next = 1;
	}
	__atomic_store_n(&age, next, __ATOMIC_RELEASE);
}
