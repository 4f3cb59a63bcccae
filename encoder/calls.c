// SPDX-License-Identifier: MIT
// Open calls and filters: see calls.h. Flusher context. The rule: closed <= written <= depth, and no entry
// lies beyond the greatest depth.
#include "encoder/calls.h"

#include <string.h>

// Open calls that have an entry.
static uint32_t entries(const struct pft_calls *calls)
{
	return calls->depth < calls->filters->depth_max ? calls->depth : calls->filters->depth_max;
}

static bool long_enough(const struct pft_calls *calls, const struct pft_open *call, uint64_t ns)
{
	return ns >= call->ns && ns - call->ns >= calls->filters->min_duration_ns;
}

static void write_up_to(struct pft_calls *calls, uint32_t depth)
{
	for (; calls->written < depth; calls->written++) {
		struct pft_open *call = &calls->open[calls->written];

		pft_trace_begin(calls->track, call->ns, call->id, call->stack);
		call->flags |= PFT_OPEN_WRITTEN;
		calls->totals->written++;
	}
}

void pft_calls_resume(struct pft_calls *calls, const struct pft_open *open, uint32_t depth)
{
	uint32_t known;

	calls->depth = depth;
	known = entries(calls);
	memcpy(calls->open, open, known * sizeof open[0]);
	calls->closed = 0;
	while (calls->closed < known && open[calls->closed].id == PFT_HOOK_NONE)
		calls->closed++;
	calls->written = calls->closed;
	while (calls->written < known && (open[calls->written].flags & PFT_OPEN_WRITTEN) != 0)
		calls->written++;
	for (uint32_t i = calls->closed; calls->track != NULL && i < calls->written; i++)
		pft_trace_resume(calls->track, open[i].ns, open[i].id);
}

void pft_calls_continue(const struct pft_calls *calls)
{
	for (uint32_t i = calls->closed; i < calls->written; i++) {
		const struct pft_open *call = &calls->open[i];

		pft_trace_continue(calls->track, call->ns, call->id, call->stack);
	}
}

void pft_calls_begin(struct pft_calls *calls, uint64_t ns, uint32_t id, uint32_t stack)
{
	pft_watched_begin(&calls->watched, ns, id);
	if (calls->depth >= calls->filters->depth_max) {
		calls->depth++;
		calls->totals->filtered++;
		return;
	}
	calls->open[calls->depth++] = (struct pft_open){.ns = ns, .id = (uint16_t)id, .stack = stack};
	if (calls->filters->min_duration_ns == 0)
		write_up_to(calls, calls->depth);
}

static void end_unwound(struct pft_track *track, uint64_t ns, uint32_t stack)
{
	(void)stack; // nobody is there any more who could tell it
	pft_trace_end_unwound(track, ns);
}

// Takes the innermost call off the stack and ends its slice, if it has one. Answers the total in which the
// record of the end belongs, if there is one.
static uint64_t *leave(struct pft_calls *calls, uint64_t ns, uint32_t stack,
	void (*end)(struct pft_track *, uint64_t, uint32_t))
{
	uint32_t top;

	if (calls->depth == 0)
		return &calls->totals->dropped;
	top = --calls->depth;
	if (top >= calls->filters->depth_max)
		return &calls->totals->filtered;
	if (top < calls->closed) {
		calls->closed = calls->written = top;
		return calls->open[top].flags & PFT_OPEN_CUT ? &calls->totals->filtered
							     : &calls->totals->dropped;
	}
	if (top >= calls->written) {
		if (!long_enough(calls, &calls->open[top], ns)) {
			calls->totals->filtered++;
			return &calls->totals->filtered;
		}
		write_up_to(calls, top + 1);
	}
	calls->written = top;
	end(calls->track, ns, stack);
	return &calls->totals->written;
}

void pft_calls_end(struct pft_calls *calls, uint64_t ns, uint32_t stack)
{
	pft_watched_end(&calls->watched, ns, false);
	++*leave(calls, ns, stack, pft_trace_end);
}

void pft_calls_end_unwound(struct pft_calls *calls, uint64_t ns)
{
	pft_watched_end(&calls->watched, ns, true);
	++*leave(calls, ns, 0, end_unwound);
}

void pft_calls_abandon(struct pft_calls *calls, uint64_t ns)
{
	pft_watched_end_all(&calls->watched, ns, true);
	calls->depth = entries(calls); // what is too deep has no slice to end
	while (calls->depth > 0)
		leave(calls, ns, 0, end_unwound);
}

// The innermost entry that is old enough has only older ones below it.
void pft_calls_ripen(struct pft_calls *calls, uint64_t ns)
{
	uint32_t depth = entries(calls);

	while (depth > calls->written && !long_enough(calls, &calls->open[depth - 1], ns))
		depth--;
	write_up_to(calls, depth);
}

uint32_t pft_calls_held(const struct pft_calls *calls)
{
	return entries(calls) - calls->written;
}

void pft_calls_settle(struct pft_calls *calls, uint64_t ns)
{
	pft_calls_ripen(calls, ns);
	calls->totals->filtered += pft_calls_held(calls);
	calls->written = entries(calls);
}

// Of the open calls only their number is known from here on, and that their ends belong to `flags`.
static void forget(struct pft_calls *calls, uint32_t depth, uint16_t flags)
{
	calls->depth = depth;
	calls->closed = calls->written = entries(calls);
	for (uint32_t i = 0; i < calls->closed; i++)
		calls->open[i] = (struct pft_open){.id = PFT_HOOK_NONE, .flags = flags};
}

void pft_calls_gap(struct pft_calls *calls, uint64_t ns, uint64_t dropped, uint32_t depth)
{
	pft_watched_gap(&calls->watched, dropped);
	pft_calls_settle(calls, ns);
	pft_trace_gap(calls->track, ns, dropped);
	forget(calls, depth, 0);
}

void pft_calls_pause(struct pft_calls *calls, uint64_t ns, uint32_t depth)
{
	pft_watched_end_all(&calls->watched, ns, false);
	pft_calls_settle(calls, ns);
	for (uint32_t i = calls->closed; i < calls->written; i++)
		pft_trace_end(calls->track, ns, 0);
	forget(calls, depth, PFT_OPEN_CUT);
}
