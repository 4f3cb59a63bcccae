// SPDX-License-Identifier: MIT
// Taking and giving back fibers: see fibers.h. Flusher context.
#include "encoder/fibers.h"

#include <stddef.h>

#include "encoder/base/text.h"

// An idle fiber is taken for the stack of a call in its neighbourhood. Stacks are entered near their top, so
// there is less to expect above.
#define NEAR_BELOW ((uint64_t)16 << 10)
#define NEAR_ABOVE ((uint64_t)4 << 10)

// With more than this a program is switching stacks by the thousand. Nobody would look at a track for each,
// so stacks share those that are idle; this also bounds how many are looked at.
#define FIBERS_MANY 256

// ---- making -----------------------------------------------------------------------------------------

static struct pft_track *make_track(struct pft_track *thread, uint32_t number)
{
	char name[32];
	struct pft_text text = pft_text_in(name, sizeof name);

	pft_text_add(&text, "coroutine ");
	pft_text_add_number(&text, number);
	return pft_trace_fiber(thread, name);
}

static struct pft_fiber *pool_take(struct pft_fiber_pool *pool)
{
	struct pft_fiber *fiber = pool->free;

	if (fiber == NULL)
		return pft_arena_alloc(pool->arena, sizeof *fiber);
	pool->free = fiber->next;
	return fiber;
}

static void pool_put(struct pft_fiber_pool *pool, struct pft_fiber *fiber)
{
	fiber->next = pool->free;
	pool->free = fiber;
}

static struct pft_fiber *make(struct pft_fibers *fibers, struct pft_fiber_pool *pool, uint64_t slot)
{
	struct pft_fiber *fiber = pool_take(pool);
	struct pft_track *track;

	if (fiber == NULL)
		return NULL;
	track = make_track(fibers->track, fibers->count + 1);
	if (track == NULL) {
		pool_put(pool, fiber);
		return NULL;
	}
	*fiber = (struct pft_fiber){
		.track = track, .thread = fibers, .low = slot, .high = slot, .next = fibers->first};
	fibers->first = fiber;
	fibers->count++;
	return fiber;
}

struct pft_fiber *pft_fiber_again(struct pft_fiber_pool *pool, struct pft_track *track)
{
	struct pft_fiber *fiber = pool_take(pool);

	if (fiber != NULL)
		*fiber = (struct pft_fiber){.track = track};
	return fiber;
}

// ---- taking -----------------------------------------------------------------------------------------

static bool is_near(const struct pft_fiber *fiber, uint64_t slot)
{
	return slot + NEAR_BELOW >= fiber->low && slot <= fiber->high + NEAR_ABOVE;
}

// The link to a near one, or else, where there are many, to any that is idle early enough.
static struct pft_fiber **find_idle(struct pft_fibers *fibers, uint64_t slot, uint64_t ns)
{
	struct pft_fiber **other = NULL;
	uint32_t looked_at = 0;

	for (struct pft_fiber **link = &fibers->idle; *link != NULL && looked_at < FIBERS_MANY;
		link = &(*link)->next_idle, looked_at++) {
		if ((*link)->free_ns > ns)
			continue;
		if (is_near(*link, slot))
			return link;
		if (other == NULL)
			other = link;
	}
	return fibers->count < FIBERS_MANY ? NULL : other;
}

struct pft_fiber *pft_fibers_take(
	struct pft_fibers *fibers, struct pft_fiber_pool *pool, uint64_t slot, uint64_t ns)
{
	struct pft_fiber **link = find_idle(fibers, slot, ns);
	struct pft_fiber *fiber = link != NULL ? *link : make(fibers, pool, slot);

	if (fiber == NULL)
		return NULL;
	if (link != NULL) {
		*link = fiber->next_idle;
		if (!is_near(fiber, slot))
			fiber->low = fiber->high = slot;
	}
	fiber->taken = true;
	return fiber;
}

void pft_fiber_saw(struct pft_fiber *fiber, uint64_t slot)
{
	fiber->low = slot < fiber->low ? slot : fiber->low;
	fiber->high = slot > fiber->high ? slot : fiber->high;
}

// ---- giving back ------------------------------------------------------------------------------------

static bool is_wanted(const struct pft_fiber *fiber)
{
	return fiber->thread != NULL || fiber->taken || fiber->kept != 0;
}

static void retire_unwanted(struct pft_fiber_pool *pool, struct pft_fiber *fiber)
{
	if (is_wanted(fiber))
		return;
	pft_trace_retire(fiber->track);
	pool_put(pool, fiber);
}

void pft_fiber_put(struct pft_fiber_pool *pool, struct pft_fiber *fiber, uint64_t ns)
{
	fiber->taken = false;
	fiber->free_ns = ns;
	if (fiber->thread != NULL) {
		fiber->next_idle = fiber->thread->idle;
		fiber->thread->idle = fiber;
	}
	retire_unwanted(pool, fiber);
}

void pft_fiber_keep(struct pft_fiber *fiber)
{
	fiber->kept++;
}

void pft_fiber_let_go(struct pft_fiber_pool *pool, struct pft_fiber *fiber)
{
	fiber->kept--;
	retire_unwanted(pool, fiber);
}

void pft_fibers_retire(struct pft_fibers *fibers, struct pft_fiber_pool *pool)
{
	while (fibers->first != NULL) {
		struct pft_fiber *fiber = fibers->first;

		fibers->first = fiber->next;
		fiber->thread = NULL;
		retire_unwanted(pool, fiber);
	}
	*fibers = (struct pft_fibers){0};
}
