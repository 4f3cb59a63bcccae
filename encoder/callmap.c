// SPDX-License-Identifier: MIT
// A hash of chains by place: see callmap.h. Flusher context. What lies on one page is in one chain, so that
// looking for a neighbour means looking into few of them. The newest call of a chain comes first: it is
// likely to be the next to end.
#include "encoder/callmap.h"

#include <stddef.h>

#define PLACE_BITS 12

static uint64_t place_of(uint64_t slot)
{
	return slot >> PLACE_BITS;
}

static uint32_t chain_of(uint64_t place)
{
	return (uint32_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 50);
}

_Static_assert(PFT_CALLMAP_CHAINS == 1 << (64 - 50), "what is left of the hash is a chain's index");

struct pft_foreign_call *pft_callmap_add(struct pft_callmap *map, uint64_t slot)
{
	struct pft_foreign_call **chain = &map->chains[chain_of(place_of(slot))];
	struct pft_foreign_call *call = map->pool;

	if (call != NULL)
		map->pool = call->next;
	else
		call = pft_arena_alloc(map->arena, sizeof *call);
	if (call == NULL)
		return NULL;
	*call = (struct pft_foreign_call){.slot = slot, .next = *chain};
	*chain = call;
	map->count++;
	return call;
}

void pft_callmap_remove(struct pft_callmap *map, struct pft_foreign_call *call)
{
	struct pft_foreign_call **link = &map->chains[chain_of(place_of(call->slot))];

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	call->next = map->pool;
	map->pool = call;
	map->count--;
}

struct pft_foreign_call *pft_callmap_find(const struct pft_callmap *map, uint64_t slot)
{
	struct pft_foreign_call *call = map->chains[chain_of(place_of(slot))];

	while (call != NULL && call->slot != slot)
		call = call->next;
	return call;
}

struct pft_foreign_call *pft_callmap_above(const struct pft_callmap *map, uint64_t slot, uint64_t reach,
	bool (*fits)(const struct pft_foreign_call *, uint64_t), uint64_t argument)
{
	struct pft_foreign_call *best = NULL;

	for (uint64_t place = place_of(slot); best == NULL && place <= place_of(slot + reach); place++) {
		struct pft_foreign_call *call = map->chains[chain_of(place)];

		for (; call != NULL; call = call->next)
			if (place_of(call->slot) == place && call->slot > slot &&
				call->slot - slot <= reach && (best == NULL || call->slot < best->slot) &&
				fits(call, argument))
				best = call;
	}
	return best;
}
