// SPDX-License-Identifier: MIT
// Guessing stacks from slots: see strands.h. Flusher context. The rule: in each strand the slots of open
// calls strictly descend, and a call that is written lies inside of those of its strand that are.
#include "encoder/strands.h"

#include <stddef.h>

// A call is taken to be on the same stack as its caller when no more than this lies between them: frames are
// rarely larger, stacks rarely smaller.
#define REACH ((uint64_t)16 << 10)

struct pft_strand {
	struct pft_strand *next, **link; // in the list of all
	struct pft_foreign_call *innermost, *outermost;
	uint32_t depth;
	uint64_t last_ns; // of its last event
	struct pft_fiber *fiber; // NULL while it is in doubt
	struct pft_fiber *home; // while it is in doubt: where its calls lie if they were left
	uint64_t doubt_ns; // and when that was
};

// ---- strands ----------------------------------------------------------------------------------------

static struct pft_strand *add_strand(struct pft_strands *strands)
{
	struct pft_strand *strand = strands->pool;

	if (strand != NULL)
		strands->pool = strand->next;
	else
		strand = pft_arena_alloc(strands->arena, sizeof *strand);
	if (strand == NULL)
		return NULL;
	*strand = (struct pft_strand){.next = strands->first, .link = &strands->first};
	if (strands->first != NULL)
		strands->first->link = &strand->next;
	strands->first = strand;
	return strand;
}

static void let_home_go(struct pft_strands *strands, struct pft_strand *strand)
{
	if (strand->home != NULL)
		pft_fiber_let_go(&strands->fibers, strand->home);
	strand->home = NULL;
}

static void remove_strand(struct pft_strands *strands, struct pft_strand *strand)
{
	let_home_go(strands, strand);
	if (strand->fiber != NULL)
		pft_fiber_put(&strands->fibers, strand->fiber, strand->last_ns);
	*strand->link = strand->next;
	if (strand->next != NULL)
		strand->next->link = strand->link;
	strand->next = strands->pool;
	strands->pool = strand;
}

// ---- writing ----------------------------------------------------------------------------------------

static struct pft_track *track_of(const struct pft_strand *strand)
{
	const struct pft_fiber *fiber = strand->fiber != NULL ? strand->fiber : strand->home;

	return fiber != NULL ? fiber->track : NULL;
}

static bool is_held(const struct pft_foreign_call *call)
{
	return !call->written && !call->deep;
}

static void write_begin(struct pft_strands *strands, struct pft_foreign_call *call)
{
	if (call->written)
		return;
	pft_trace_begin(track_of(call->strand), call->ns, call->id, call->stack);
	call->written = true;
	strands->tally.events.written++;
}

static bool long_enough(const struct pft_strands *strands, const struct pft_foreign_call *call, uint64_t ns)
{
	return ns >= call->ns && ns - call->ns >= strands->filters->min_duration_ns;
}

struct ending {
	uint64_t ns;
	uint32_t stack; // as for pft_calls_end
	bool unwound;
};

// Writes the slice of a call that is over. Answers the total in which the record of its end belongs.
static uint64_t *write_end(
	struct pft_strands *strands, struct pft_foreign_call *call, const struct ending *ending)
{
	struct pft_track *track = track_of(call->strand);

	if (call->deep)
		return &strands->tally.events.filtered;
	if (call->closed)
		return &strands->tally.events.dropped;
	if (track == NULL) {
		strands->tally.events.dropped++;
		return &strands->tally.events.dropped;
	}
	if (!call->written && !long_enough(strands, call, ending->ns)) {
		strands->tally.events.filtered++;
		return &strands->tally.events.filtered;
	}
	write_begin(strands, call);
	if (ending->unwound)
		pft_trace_end_unwound(track, ending->ns);
	else
		pft_trace_end(track, ending->ns, ending->stack);
	return &strands->tally.events.written;
}

// ---- leaving ----------------------------------------------------------------------------------------

static void pop(struct pft_strands *strands, struct pft_strand *strand)
{
	struct pft_foreign_call *call = strand->innermost;

	if (strand->fiber != NULL)
		pft_fiber_saw(strand->fiber, call->slot);
	strand->innermost = call->outer;
	strand->depth--;
	pft_callmap_remove(&strands->map, call);
	if (strand->innermost == NULL)
		remove_strand(strands, strand);
}

static void unwatch(struct pft_foreign_call *call, const struct ending *ending)
{
	struct pft_watched_call *caller = call->outer != NULL ? &call->outer->watched : NULL;

	pft_watched_leave(&call->watched, caller, ending->ns, ending->unwound);
}

// The innermost call of the strand is over. Answers as write_end.
static uint64_t *leave(struct pft_strands *strands, struct pft_strand *strand, struct ending ending)
{
	uint64_t *total;

	if (strand->last_ns > ending.ns)
		ending.ns = strand->last_ns;
	strand->last_ns = ending.ns;
	total = write_end(strands, strand->innermost, &ending);
	unwatch(strand->innermost, &ending);
	pop(strands, strand);
	return total;
}

// A call of a strand in doubt ends where the doubt arose, any other now.
static void leave_for_good(struct pft_strands *strands, struct pft_strand *strand, uint64_t ns)
{
	leave(strands, strand,
		(struct ending){.ns = strand->fiber != NULL ? ns : strand->doubt_ns, .unwound = true});
}

// ---- doubt ------------------------------------------------------------------------------------------

// A slice that is written is ended: it cannot move.
static void move(struct pft_foreign_call *call, struct pft_strand *to, uint64_t ns)
{
	if (call->written && !call->closed) {
		pft_trace_end_unwound(call->strand->fiber->track, ns);
		call->closed = true;
	}
	call->strand->depth--;
	call->strand = to;
	to->depth++;
	to->outermost = call;
}

// Just before `ns`, so that it lies inside of a call that ends then.
static void begin_doubt(struct pft_strand *doubtful, const struct pft_strand *strand, uint64_t ns)
{
	doubtful->last_ns = strand->last_ns;
	doubtful->home = strand->fiber != NULL ? strand->fiber : strand->home;
	doubtful->doubt_ns = ns - 1 > strand->last_ns ? ns - 1 : strand->last_ns;
	if (strand->fiber == NULL)
		doubtful->doubt_ns = strand->doubt_ns;
	if (doubtful->home != NULL)
		pft_fiber_keep(doubtful->home);
}

// Calls that are open inside of this one, although its stack is in use above them, leave the strand.
static void split(struct pft_strands *strands, struct pft_foreign_call *call, uint64_t ns)
{
	struct pft_strand *strand = call->strand;
	struct pft_strand *doubtful = strand->innermost != call ? add_strand(strands) : NULL;

	ns = ns > strand->last_ns ? ns : strand->last_ns;
	if (doubtful == NULL) {
		while (strand->innermost != call)
			leave_for_good(strands, strand, ns);
		return;
	}
	begin_doubt(doubtful, strand, ns);
	doubtful->innermost = strand->innermost;
	for (; strand->innermost != call; strand->innermost = strand->innermost->outer)
		move(strand->innermost, doubtful, ns);
	doubtful->outermost->outer = NULL;
}

// The strand is in use, so it is a stack. False when out of memory.
static bool dispel(struct pft_strands *strands, struct pft_fibers *thread, struct pft_strand *strand)
{
	const struct pft_foreign_call *outermost = strand->outermost;

	if (strand->fiber == NULL)
		strand->fiber = pft_fibers_take(thread, &strands->fibers, outermost->slot, outermost->ns);
	let_home_go(strands, strand);
	return strand->fiber != NULL;
}

// ---- begins -----------------------------------------------------------------------------------------

// Time steps back only where a thread was stopped between reading the clock and recording.
// What begins at the very nanosecond runs on another thread, and readers could not tell which is inside.
static bool may_call(const struct pft_foreign_call *call, uint64_t ns)
{
	return call->ns < ns && call->strand->last_ns <= ns;
}

static bool may_call_undoubted(const struct pft_foreign_call *call, uint64_t ns)
{
	return call->strand->fiber != NULL && may_call(call, ns);
}

static struct pft_foreign_call *caller_of(const struct pft_strands *strands, uint64_t slot, uint64_t ns)
{
	struct pft_foreign_call *caller =
		pft_callmap_above(&strands->map, slot, REACH, may_call_undoubted, ns);

	return caller != NULL ? caller : pft_callmap_above(&strands->map, slot, REACH, may_call, ns);
}

static struct pft_strand *for_new_stack(
	struct pft_strands *strands, struct pft_fibers *thread, uint64_t slot, uint64_t ns)
{
	struct pft_strand *strand = add_strand(strands);

	if (strand == NULL)
		return NULL;
	strand->last_ns = ns;
	strand->fiber = pft_fibers_take(thread, &strands->fibers, slot, ns);
	if (strand->fiber != NULL)
		return strand;
	remove_strand(strands, strand);
	return NULL;
}

static struct pft_strand *strand_for(
	struct pft_strands *strands, struct pft_fibers *thread, uint64_t slot, uint64_t ns)
{
	struct pft_foreign_call *caller = caller_of(strands, slot, ns);

	if (caller == NULL)
		return for_new_stack(strands, thread, slot, ns);
	split(strands, caller, ns);
	return dispel(strands, thread, caller->strand) ? caller->strand : NULL;
}

static void push(struct pft_strands *strands, struct pft_strand *strand, struct pft_foreign_call *call)
{
	call->strand = strand;
	call->outer = strand->innermost;
	call->deep = strand->depth >= strands->filters->depth_max;
	if (strand->innermost == NULL)
		strand->outermost = call;
	strand->innermost = call;
	strand->depth++;
	strand->last_ns = call->ns;
	strands->tally.events.filtered += call->deep;
}

static bool is_written_at_once(const struct pft_strands *strands, const struct pft_foreign_call *call)
{
	return call->outer == NULL && !call->deep && strands->filters->min_duration_ns == 0;
}

// Its slot is used anew.
static void leave_old(struct pft_strands *strands, uint64_t slot, uint64_t ns)
{
	struct pft_foreign_call *old = pft_callmap_find(&strands->map, slot);

	if (old == NULL)
		return;
	split(strands, old, ns);
	leave_for_good(strands, old->strand, ns);
}

void pft_strands_begin(
	struct pft_strands *strands, struct pft_fibers *thread, const struct pft_strand_call *begun)
{
	struct pft_strand *strand;
	struct pft_foreign_call *call;

	strands->stale = 3;
	leave_old(strands, begun->slot, begun->ns);
	strand = strand_for(strands, thread, begun->slot, begun->ns);
	call = strand != NULL ? pft_callmap_add(&strands->map, begun->slot) : NULL;
	if (call == NULL) {
		strands->tally.events.dropped++;
		if (strand != NULL && strand->innermost == NULL)
			remove_strand(strands, strand);
		return;
	}
	call->ns = begun->ns;
	call->turn = begun->turn;
	call->id = (uint16_t)begun->id;
	call->stack = begun->stack;
	push(strands, strand, call);
	pft_watched_enter(begun->watched, &call->watched, call->outer != NULL ? &call->outer->watched : NULL,
		begun->ns, begun->id);
	if (is_written_at_once(strands, call))
		write_begin(strands, call);
}

// ---- ends -------------------------------------------------------------------------------------------

static void end_call(struct pft_strands *strands, struct pft_fibers *thread,
	const struct pft_strand_call *ended, bool unwound)
{
	struct pft_foreign_call *call = pft_callmap_find(&strands->map, ended->slot);
	struct ending ending = {.ns = ended->ns, .stack = ended->stack, .unwound = unwound};

	if (call == NULL || call->turn != ended->turn) {
		strands->tally.events.dropped++;
		return;
	}
	strands->stale = 3;
	dispel(strands, thread, call->strand);
	split(strands, call, ended->ns);
	++*leave(strands, call->strand, ending);
}

void pft_strands_end(
	struct pft_strands *strands, struct pft_fibers *thread, const struct pft_strand_call *ended)
{
	end_call(strands, thread, ended, false);
}

void pft_strands_end_unwound(
	struct pft_strands *strands, struct pft_fibers *thread, const struct pft_strand_call *ended)
{
	end_call(strands, thread, ended, true);
}

// ---- all of them ------------------------------------------------------------------------------------

void pft_strands_ripen(struct pft_strands *strands, uint64_t ns)
{
	for (struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next)
		if (strand->fiber != NULL && is_held(strand->outermost) &&
			long_enough(strands, strand->outermost, ns)) {
			write_begin(strands, strand->outermost);
			strands->stale = 3;
		}
}

uint64_t pft_strands_held(const struct pft_strands *strands)
{
	uint64_t held = 0;

	for (const struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next)
		for (const struct pft_foreign_call *call = strand->innermost; call != NULL;
			call = call->outer)
			held += is_held(call);
	return held;
}

static void settle(struct pft_strands *strands, const struct pft_strand *strand, uint64_t ns)
{
	for (struct pft_foreign_call *call = strand->innermost; call != NULL; call = call->outer) {
		if (!is_held(call))
			continue;
		if (long_enough(strands, call, ns))
			write_begin(strands, call);
		else
			strands->tally.events.filtered++;
	}
}

void pft_strands_settle(struct pft_strands *strands, uint64_t ns)
{
	struct pft_strand *next;

	for (struct pft_strand *strand = strands->first; strand != NULL; strand = next) {
		uint32_t left = strand->fiber == NULL ? strand->depth : 0;

		next = strand->next;
		if (left == 0)
			settle(strands, strand, ns);
		while (left-- != 0)
			leave_for_good(strands, strand, ns);
	}
}

// An inner call is written when it has ended.
void pft_strands_continue(const struct pft_strands *strands)
{
	for (const struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next) {
		const struct pft_foreign_call *call = strand->outermost;

		if (call->written && !call->closed)
			pft_trace_continue(track_of(strand), call->ns, call->id, call->stack);
	}
}

void pft_strands_pause(struct pft_strands *strands, uint64_t ns)
{
	strands->stale = strands->first != NULL ? 3 : strands->stale;
	while (strands->first != NULL)
		leave_for_good(strands, strands->first, ns);
}

// ---- recovery ---------------------------------------------------------------------------------------

static struct pft_open_foreign entry_of(const struct pft_foreign_call *call)
{
	const struct pft_strand *strand = call->strand;
	const struct pft_track *track = track_of(strand);
	struct pft_open_foreign entry = {
		.slot = call->slot | (uint64_t)call->turn << PFT_TURN_SHIFT,
		.ns = call->ns,
		.track_uuid = track != NULL ? pft_trace_uuid(track) : 0,
		.doubt_ns = strand->doubt_ns,
		.json_tid = track != NULL ? pft_trace_json_tid(track) : 0,
		.stack = call->stack,
		.id = call->id,
	};

	entry.flags = (uint16_t)((call->written ? PFT_OPEN_WRITTEN : 0) | (call->deep ? PFT_OPEN_DEEP : 0) |
				 (call->closed ? PFT_OPEN_CLOSED : 0) |
				 (strand->fiber == NULL ? PFT_OPEN_DOUBTFUL : 0) |
				 (call->outer == NULL ? PFT_OPEN_OUTERMOST : 0));
	return entry;
}

// A stack that does not fit is left out whole.
uint32_t pft_strands_list(const struct pft_strands *strands, struct pft_open_foreign *list, uint32_t room)
{
	uint32_t count = 0;

	for (const struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next) {
		if (strand->depth > room - count)
			continue;
		for (const struct pft_foreign_call *call = strand->innermost; call != NULL;
			call = call->outer)
			list[count++] = entry_of(call);
	}
	return count;
}

static struct pft_fiber *known_fiber(const struct pft_strands *strands, uint64_t uuid)
{
	for (const struct pft_strand *strand = strands->first; strand != NULL; strand = strand->next) {
		struct pft_fiber *fiber = strand->fiber != NULL ? strand->fiber : strand->home;

		if (fiber != NULL && pft_trace_uuid(fiber->track) == uuid)
			return fiber;
	}
	return NULL;
}

static struct pft_fiber *fiber_again(
	struct pft_strands *strands, struct pft_trace *trace, const struct pft_open_foreign *entry)
{
	struct pft_fiber *fiber = known_fiber(strands, entry->track_uuid);
	struct pft_track *track;

	if (fiber != NULL || entry->track_uuid == 0)
		return fiber;
	track = pft_trace_fiber_again(trace, entry->track_uuid, entry->json_tid);
	return track != NULL ? pft_fiber_again(&strands->fibers, track) : NULL;
}

// The strand of which `entry` is the outermost call.
static struct pft_strand *strand_again(
	struct pft_strands *strands, struct pft_trace *trace, const struct pft_open_foreign *entry)
{
	struct pft_fiber *fiber = fiber_again(strands, trace, entry);
	struct pft_strand *strand = fiber != NULL ? add_strand(strands) : NULL;

	if (strand == NULL)
		return NULL;
	strand->doubt_ns = entry->doubt_ns;
	if ((entry->flags & PFT_OPEN_DOUBTFUL) != 0) {
		strand->home = fiber;
		pft_fiber_keep(fiber);
	} else {
		strand->fiber = fiber;
		fiber->taken = true;
	}
	return strand;
}

static void push_again(
	struct pft_strands *strands, struct pft_strand *strand, const struct pft_open_foreign *entry)
{
	struct pft_foreign_call *call = pft_callmap_add(&strands->map, entry->slot & PFT_SLOT_MASK);

	if (call == NULL)
		return;
	call->turn = (uint32_t)(entry->slot >> PFT_TURN_SHIFT);
	call->ns = entry->ns;
	call->id = entry->id;
	call->stack = entry->stack;
	push(strands, strand, call);
	strands->tally.events.filtered -= call->deep; // counted before
	call->written = (entry->flags & PFT_OPEN_WRITTEN) != 0;
	call->closed = (entry->flags & PFT_OPEN_CLOSED) != 0;
	call->deep = (entry->flags & PFT_OPEN_DEEP) != 0;
	if (call->written && !call->closed)
		pft_trace_resume(track_of(strand), call->ns, call->id);
}

void pft_strands_resume(struct pft_strands *strands, struct pft_trace *trace,
	const struct pft_open_foreign *list, uint32_t count)
{
	struct pft_strand *strand = NULL;

	while (count-- != 0) {
		if ((list[count].flags & PFT_OPEN_OUTERMOST) != 0)
			strand = strand_again(strands, trace, &list[count]);
		if (strand != NULL)
			push_again(strands, strand, &list[count]);
	}
	strands->stale = 3;
}
