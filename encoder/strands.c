// SPDX-License-Identifier: MIT
// Guessing stacks from slots: see strands.h. Flusher context. The rule: in each strand the slots of open
// calls strictly descend.
#include "encoder/strands.h"

#include "encoder/base/text.h"

// A call is taken to be on the same stack as its caller when no more than this lies between them: frames are
// rarely larger, stacks rarely smaller.
#define REACH ((uint64_t)16 << 10)

// A strand that has no open call is taken for the stack of a call in its neighbourhood. Stacks are entered
// near their top, so there is less to expect above.
#define NEAR_BELOW REACH
#define NEAR_ABOVE ((uint64_t)4 << 10)

// Beyond this a program is switching stacks by the thousand; tracks nobody would look at are then shared.
#define STRANDS_MAX 256

struct pft_strand {
	struct pft_strand *next;
	uint64_t low, high; // range of the slots seen
	struct pft_calls calls;
	uint64_t slots[PFT_DEPTH_MAX];
};

// ---- finding ----------------------------------------------------------------------------------------

// Index of the open call at `slot`, or the depth when there is none.
static uint32_t call_at(const struct pft_strand *strand, uint64_t slot)
{
	uint32_t depth = strand->calls.depth;

	for (uint32_t i = depth; i-- > 0 && strand->slots[i] <= slot;)
		if (strand->slots[i] == slot)
			return i;
	return depth;
}

static struct pft_strand *with_open(const struct pft_strands *strands, uint64_t slot)
{
	struct pft_strand *strand = strands->first;

	while (strand != NULL && call_at(strand, slot) == strand->calls.depth)
		strand = strand->next;
	return strand;
}

// Distance from the slot up to the innermost open call; beyond reach when there is none above it.
static uint64_t distance(const struct pft_strand *strand, uint64_t slot)
{
	uint32_t depth = strand->calls.depth;

	return depth != 0 && strand->slots[depth - 1] > slot ? strand->slots[depth - 1] - slot : UINT64_MAX;
}

static struct pft_strand *of_caller(const struct pft_strands *strands, uint64_t slot)
{
	struct pft_strand *best = NULL;
	uint64_t best_distance = REACH + 1;

	for (struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next) {
		if (distance(strand, slot) < best_distance) {
			best = strand;
			best_distance = distance(strand, slot);
		}
	}
	return best;
}

static bool idle_near(const struct pft_strand *strand, uint64_t slot)
{
	return strand->calls.depth == 0 && slot + NEAR_BELOW >= strand->low &&
	       slot <= strand->high + NEAR_ABOVE;
}

static struct pft_strand *idle_at(const struct pft_strands *strands, uint64_t slot)
{
	struct pft_strand *strand = strands->first;

	while (strand != NULL && !idle_near(strand, slot))
		strand = strand->next;
	return strand;
}

// ---- making -----------------------------------------------------------------------------------------

static struct pft_track *make_track(struct pft_track *thread, uint32_t number)
{
	char name[32];
	struct pft_text text = pft_text_in(name, sizeof name);

	pft_text_add(&text, "coroutine ");
	pft_text_add_number(&text, number);
	return pft_trace_fiber(thread, name);
}

static struct pft_strand *pool_take(struct pft_strand_pool *pool)
{
	struct pft_strand *strand = pool->free;

	if (strand == NULL)
		return pft_arena_alloc(pool->arena, sizeof *strand);
	pool->free = strand->next;
	return strand;
}

static void pool_put(struct pft_strand_pool *pool, struct pft_strand *strand)
{
	strand->next = pool->free;
	pool->free = strand;
}

static struct pft_strand *make(
	struct pft_strands *strands, struct pft_strand_pool *pool, const struct pft_strand_owner *owner)
{
	struct pft_strand *strand = pool_take(pool);
	struct pft_track *track;

	if (strand == NULL)
		return NULL;
	track = make_track(owner->track, strands->count + 1);
	if (track == NULL) {
		pool_put(pool, strand);
		return NULL;
	}
	strand->calls.track = track;
	strand->calls.filters = pool->filters;
	strand->calls.totals = owner->totals;
	strand->next = strands->first;
	strands->first = strand;
	strands->count++;
	return strand;
}

static struct pft_strand *any_idle(const struct pft_strands *strands)
{
	struct pft_strand *strand = strands->first;

	while (strand != NULL && strand->calls.depth != 0)
		strand = strand->next;
	return strand;
}

// A strand for a stack that was not seen before.
static struct pft_strand *for_new_stack(struct pft_strands *strands, struct pft_strand_pool *pool,
	const struct pft_strand_owner *owner, uint64_t slot)
{
	struct pft_strand *strand =
		strands->count < STRANDS_MAX ? make(strands, pool, owner) : any_idle(strands);

	if (strand != NULL)
		strand->low = strand->high = slot;
	return strand;
}

// ---- events -----------------------------------------------------------------------------------------

// What happens next is most likely on the same stack.
static void move_to_front(struct pft_strands *strands, struct pft_strand *strand)
{
	struct pft_strand **link = &strands->first;

	while (*link != strand)
		link = &(*link)->next;
	*link = strand->next;
	strand->next = strands->first;
	strands->first = strand;
}

static void push(struct pft_strand *strand, const struct pft_strand_call *call)
{
	uint64_t slot = call->slot;

	if (strand->calls.depth == PFT_DEPTH_MAX) {
		strand->calls.totals->dropped++;
		return;
	}
	strand->slots[strand->calls.depth] = slot;
	pft_calls_begin(&strand->calls, call->ns, call->id, call->stack);
	strand->low = slot < strand->low ? slot : strand->low;
	strand->high = slot > strand->high ? slot : strand->high;
}

void pft_strands_begin(struct pft_strands *strands, struct pft_strand_pool *pool,
	const struct pft_strand_owner *owner, const struct pft_strand_call *call)
{
	struct pft_strand *strand = with_open(strands, call->slot);

	if (strand != NULL)
		pft_calls_abandon(&strand->calls, call->ns, call_at(strand, call->slot));
	if (strand == NULL)
		strand = of_caller(strands, call->slot);
	if (strand == NULL)
		strand = idle_at(strands, call->slot);
	if (strand == NULL)
		strand = for_new_stack(strands, pool, owner, call->slot);
	if (strand == NULL) {
		owner->totals->dropped++;
		return;
	}
	move_to_front(strands, strand);
	push(strand, call);
}

// The strand whose innermost call is the one that ends, or NULL.
static struct pft_strand *ending(
	struct pft_strands *strands, struct pft_totals *totals, const struct pft_strand_call *call)
{
	struct pft_strand *strand = with_open(strands, call->slot);

	if (strand == NULL) {
		totals->dropped++;
		return NULL;
	}
	pft_calls_abandon(&strand->calls, call->ns, call_at(strand, call->slot) + 1);
	move_to_front(strands, strand);
	return strand;
}

void pft_strands_end(
	struct pft_strands *strands, struct pft_totals *totals, const struct pft_strand_call *call)
{
	struct pft_strand *strand = ending(strands, totals, call);

	if (strand != NULL)
		pft_calls_end(&strand->calls, call->ns, call->stack);
}

void pft_strands_end_unwound(
	struct pft_strands *strands, struct pft_totals *totals, const struct pft_strand_call *call)
{
	struct pft_strand *strand = ending(strands, totals, call);

	if (strand != NULL)
		pft_calls_end_unwound(&strand->calls, call->ns);
}

// ---- all of them ------------------------------------------------------------------------------------

void pft_strands_ripen(struct pft_strands *strands, uint64_t ns)
{
	for (struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next)
		pft_calls_ripen(&strand->calls, ns);
}

void pft_strands_settle(struct pft_strands *strands, uint64_t ns)
{
	for (struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next)
		pft_calls_settle(&strand->calls, ns);
}

void pft_strands_gap(struct pft_strands *strands, uint64_t ns)
{
	for (struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next)
		if (strand->calls.depth != 0)
			pft_calls_gap(&strand->calls, ns, 0, 0);
}

void pft_strands_retire(struct pft_strands *strands, struct pft_strand_pool *pool, uint64_t ns)
{
	while (strands->first != NULL) {
		struct pft_strand *strand = strands->first;

		strands->first = strand->next;
		pft_calls_abandon(&strand->calls, ns, 0);
		pft_trace_retire(strand->calls.track);
		pool_put(pool, strand);
	}
	strands->count = 0;
}
