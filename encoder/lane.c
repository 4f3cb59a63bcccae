// SPDX-License-Identifier: MIT
// One thread's records become verbs: see lane.h. Flusher context. The rule: a thread's times never step back,
// and `produced` is counted from ring positions alone, so that it checks the three counts that make it up.
#include "encoder/lane.h"

#include <string.h>

#include "encoder/commit.h"
#include "encoder/order.h"
#include "encoder/records.h"
#include "encoder/timeline.h"

#define SLOT ((uint32_t)sizeof(struct pft_record))

// No name was written at an odd turn.
#define NO_NAME 1u

static struct pft_session_thread *entry_of(const struct pft_lane *lane)
{
	return pft_session_thread(lane->shared->session, lane->index);
}

// A line that was renewed may disagree by nanoseconds with what the old one said of the same time.
static uint64_t time_of(struct pft_lane *lane, uint64_t ticks)
{
	uint64_t ns = pft_timeline_ns(&lane->shared->line, ticks);

	if (ns > lane->last_ns)
		lane->last_ns = ns;
	return lane->last_ns;
}

// Both commit records lack news of the lane from now on.
static void touch(struct pft_lane *lane)
{
	if (lane->stale == 0) {
		lane->next_stale = lane->shared->stale;
		lane->shared->stale = lane;
	}
	lane->stale = 3;
}

// ---- the thread -------------------------------------------------------------------------------------

// The thread's own side: turn odd, name, turn even. Byte by byte, as it may change under our eyes.
static bool name_copy(const struct pft_session_thread *entry, char *name, uint32_t turn)
{
	for (size_t i = 0; i < PFT_THREAD_NAME; i++)
		name[i] = __atomic_load_n(&entry->name[i], __ATOMIC_ACQUIRE);
	name[PFT_THREAD_NAME - 1] = '\0';
	return (turn & 1) == 0 && __atomic_load_n(&entry->name_turn, __ATOMIC_RELAXED) == turn;
}

// True when `name` is one that the track does not have yet.
static bool name_changed(struct pft_lane *lane, char *name)
{
	const struct pft_session_thread *entry = entry_of(lane);
	uint32_t turn = __atomic_load_n(&entry->name_turn, __ATOMIC_ACQUIRE);

	if (turn == lane->name_turn || !name_copy(entry, name, turn))
		return false;
	lane->name_turn = turn;
	return true;
}

static bool is_closed(const struct pft_lane *lane)
{
	return pft_window_is_closed(pft_session_window(lane->shared->session));
}

// The first thread's is the first event of the process.
static void say_begin(const struct pft_lane *lane, uint64_t ns)
{
	if (lane->serial == 1)
		pft_trace_arrive(lane->track, ns, "thread begin", "thread");
	else
		pft_trace_instant(lane->track, ns, "thread begin", "thread");
}

// Nothing is told of a thread that lives while the window is closed, until it opens or records are found.
static void announce(struct pft_lane *lane)
{
	const struct pft_session_thread *entry = entry_of(lane);
	char name[PFT_THREAD_NAME];

	lane->announced = true;
	if (!name_changed(lane, name))
		name[0] = '\0';
	lane->track = pft_trace_thread(lane->shared->trace, entry->tid, name);
	lane->calls.track = lane->fibers.track = lane->track;
	pft_watch_thread(
		lane->shared->watch, &lane->calls.watched, entry->tid, time_of(lane, entry->begin_ticks));
	pft_watched_name(&lane->calls.watched, name);
}

// The thread of the entry is the lane's from now on.
static void adopt(struct pft_lane *lane)
{
	const struct pft_session_thread *entry = entry_of(lane);

	lane->serial = entry->serial;
	lane->live = true;
	lane->name_turn = NO_NAME;
	lane->announced = false;
	lane->track = lane->calls.track = lane->fibers.track = NULL;
	lane->calls.filters = &lane->shared->filters;
	lane->calls.totals = &lane->tally.events;
}

static void begin(struct pft_lane *lane)
{
	const struct pft_session_thread *entry = entry_of(lane);

	adopt(lane);
	memset(&lane->tally, 0, sizeof lane->tally);
	lane->tail = lane->committed = lane->head = entry->begin_at;
	touch(lane);
	lane->slots = lane->other_slots = lane->lost_slots = lane->told = lane->untold = lane->foreign = 0;
	lane->last_ns = lane->known_ns = 0;
	lane->calls.depth = lane->calls.written = lane->calls.closed = 0;
	if (is_closed(lane))
		return;
	announce(lane);
	if (lane->track != NULL)
		say_begin(lane, time_of(lane, entry->begin_ticks));
}

void pft_lane_resume(struct pft_lane *lane, const struct pft_commit_thread *kept)
{
	if (kept->depth == PFT_COMMIT_ENDED) {
		lane->serial = kept->serial;
		return;
	}
	adopt(lane);
	announce(lane);
	lane->tally.events = (struct pft_totals){
		.written = kept->written, .filtered = kept->filtered, .dropped = kept->dropped};
	lane->tally.safe = kept->written;
	lane->tail = lane->committed = lane->head = kept->tail;
	lane->slots = kept->produced - kept->told + kept->other_slots;
	lane->other_slots = kept->other_slots;
	lane->lost_slots = kept->lost_slots;
	lane->told = kept->told;
	lane->untold = kept->untold;
	lane->last_ns = kept->last_ns;
	pft_calls_resume(&lane->calls, kept->open, kept->depth);
	lane->foreign = kept->produced - kept->written - kept->filtered - kept->dropped -
			pft_calls_held(&lane->calls);
}

static void rename_track(struct pft_lane *lane, const char *name)
{
	pft_trace_name(lane->track, name);
	pft_watched_name(&lane->calls.watched, name);
}

void pft_lane_follow(struct pft_lane *lane)
{
	char name[PFT_THREAD_NAME];

	if (entry_of(lane)->serial != lane->serial)
		begin(lane);
	else if (lane->live && !lane->announced && !is_closed(lane))
		announce(lane);
	else if (lane->live && lane->track != NULL && name_changed(lane, name))
		rename_track(lane, name);
}

// ---- losses -----------------------------------------------------------------------------------------

// Slots that cannot be read. Each counts as an event; the thread's own count of slots that are none sets
// that right at its end.
static void lose(struct pft_lane *lane, uint32_t slots)
{
	lane->tail += slots * SLOT;
	lane->slots += slots;
	lane->lost_slots += slots;
	lane->untold += slots;
	lane->tally.events.dropped += slots;
}

static void lose_overwritten(struct pft_lane *lane, uint32_t head)
{
	uint32_t oldest = pft_record_oldest(lane->shared->session, lane->tail, head);

	if (oldest != lane->tail)
		lose(lane, (oldest - lane->tail) / SLOT);
}

// After unread slots any open call may have ended.
static void tell_losses(struct pft_lane *lane, uint64_t ns)
{
	if (lane->untold == 0 || lane->track == NULL)
		return;
	pft_calls_gap(&lane->calls, ns, lane->untold, 0);
	lane->untold = 0;
}

// What the thread dropped after its last gap record.
static void drop_rest(struct pft_lane *lane)
{
	uint64_t dropped = __atomic_load_n(&entry_of(lane)->dropped, __ATOMIC_RELAXED);

	if (dropped <= lane->told)
		return;
	lane->untold += dropped - lane->told;
	lane->tally.events.dropped += dropped - lane->told;
	lane->told = dropped;
}

// ---- events -----------------------------------------------------------------------------------------

static void apply_gap(struct pft_lane *lane, uint64_t ns, const struct pft_recorded *recorded)
{
	lane->told += recorded->dropped;
	lane->tally.events.dropped += recorded->dropped;
	if (lane->track != NULL)
		pft_calls_gap(&lane->calls, ns, recorded->dropped, recorded->depth);
}

static uint64_t close_time(struct pft_lane *lane)
{
	return time_of(lane, __atomic_load_n(&lane->shared->session->closed_ticks, __ATOMIC_RELAXED));
}

// Calls whose slices end with the window have an instant that says so.
static void pause_at(struct pft_lane *lane, uint64_t ns, uint32_t depth)
{
	bool cut;

	if (lane->track == NULL)
		return;
	tell_losses(lane, ns);
	cut = pft_trace_depth(lane->track) != 0;
	pft_calls_pause(&lane->calls, ns, depth);
	if (cut)
		pft_trace_instant(lane->track, ns, "recording stopped", "pftshim");
}

// The window was closed at the latest when the thread says so.
static void apply_pause(struct pft_lane *lane, const struct pft_recorded *recorded)
{
	uint64_t closed_ticks = __atomic_load_n(&lane->shared->session->closed_ticks, __ATOMIC_RELAXED);

	if (closed_ticks > recorded->ticks)
		closed_ticks = recorded->ticks;
	pause_at(lane, time_of(lane, closed_ticks), recorded->depth);
}

static void apply_own(struct pft_lane *lane, uint64_t ns, const struct pft_recorded *recorded)
{
	if (recorded->kind == PFT_BEGIN)
		pft_calls_begin(&lane->calls, ns, recorded->id, recorded->stack);
	else if (recorded->kind == PFT_END)
		pft_calls_end(&lane->calls, ns, recorded->stack);
	else
		pft_calls_end_unwound(&lane->calls, ns);
}

static void apply_foreign(struct pft_lane *lane, uint64_t ns, const struct pft_recorded *recorded)
{
	struct pft_strands *strands = &lane->shared->strands;
	const struct pft_strand_call call = {.ns = ns,
		.slot = recorded->slot,
		.turn = recorded->turn,
		.id = recorded->id,
		.stack = recorded->stack,
		.watched = &lane->calls.watched};

	lane->foreign++;
	if (recorded->kind == PFT_BEGIN)
		pft_strands_begin(strands, &lane->fibers, &call);
	else if (recorded->kind == PFT_END)
		pft_strands_end(strands, &lane->fibers, &call);
	else
		pft_strands_end_unwound(strands, &lane->fibers, &call);
}

static void apply(struct pft_lane *lane, uint64_t ns, const struct pft_recorded *recorded)
{
	tell_losses(lane, ns);
	if (recorded->kind == PFT_GAP)
		apply_gap(lane, ns, recorded);
	else if (lane->track == NULL)
		lane->tally.events.dropped++;
	else if (recorded->foreign)
		apply_foreign(lane, ns, recorded);
	else
		apply_own(lane, ns, recorded);
}

static bool is_event(const struct pft_recorded *recorded)
{
	return recorded->kind != PFT_GAP && recorded->kind != PFT_PAUSE && recorded->kind != PFT_HOLE;
}

static void take(struct pft_lane *lane, const struct pft_recorded *recorded)
{
	lane->tail += recorded->bytes;
	lane->slots += recorded->bytes / SLOT;
	lane->other_slots += recorded->bytes / SLOT - is_event(recorded);
	if (recorded->kind == PFT_PAUSE)
		apply_pause(lane, recorded);
	else if (recorded->kind != PFT_HOLE)
		apply(lane, time_of(lane, recorded->ticks), recorded);
}

// Foreign events are passed up to `ticks`.
static void run(struct pft_lane *lane, uint64_t ticks)
{
	struct pft_recorded recorded;

	touch(lane);
	if (!lane->announced)
		announce(lane);
	while (lane->tail != lane->head) {
		if (!pft_record_read(lane->shared->session, lane->index, lane->tail, lane->head, &recorded)) {
			lose(lane, 1);
			continue;
		}
		if (recorded.foreign && recorded.ticks > ticks) {
			pft_order_wait(lane->shared, lane, recorded.ticks);
			return;
		}
		take(lane, &recorded);
	}
}

void pft_lane_drain(struct pft_lane *lane, uint32_t head)
{
	if (!lane->live || lane->tail == head)
		return;
	lane->head = head;
	lose_overwritten(lane, head);
	if (!lane->waits)
		run(lane, 0);
}

bool pft_lane_advance(struct pft_lane *lane, uint32_t head)
{
	uint32_t before = lane->tail;

	if (!lane->live)
		return false;
	lose_overwritten(lane, head);
	if (lane->tail == before)
		return false;
	lane->head = lane->waits ? head : lane->tail;
	touch(lane);
	return true;
}

void pft_lane_pass(struct pft_lane *lane, uint64_t ticks)
{
	run(lane, ticks);
}

bool pft_lane_is_drained(const struct pft_lane *lane)
{
	return lane->tail == lane->head;
}

static void ripen(struct pft_lane *lane, uint64_t ns)
{
	uint64_t before = lane->tally.events.written;

	pft_calls_ripen(&lane->calls, ns);
	if (lane->tally.events.written != before)
		touch(lane);
}

void pft_lane_ripen(struct pft_lane *lane)
{
	bool knows_more = pft_lane_is_drained(lane) && lane->known_ns > lane->last_ns;

	ripen(lane, knows_more ? lane->known_ns : lane->last_ns);
}

void pft_lane_write_all(struct pft_lane *lane)
{
	ripen(lane, UINT64_MAX);
}

uint32_t pft_lane_tid(const struct pft_lane *lane)
{
	return entry_of(lane)->tid;
}

void pft_lane_continue(const struct pft_lane *lane)
{
	if (lane->track != NULL)
		pft_calls_continue(&lane->calls);
}

void pft_lane_mark(struct pft_lane *lane, const char *name)
{
	if (lane->live && lane->track != NULL)
		pft_trace_instant(lane->track, lane->last_ns, name, "pftshim");
}

void pft_lane_pause(struct pft_lane *lane)
{
	if (!lane->live)
		return;
	pause_at(lane, close_time(lane), lane->calls.depth);
	touch(lane);
}

// ---- the end ----------------------------------------------------------------------------------------

struct pft_totals pft_lane_totals(const struct pft_lane *lane)
{
	struct pft_totals totals = lane->tally.events;

	if (lane->live)
		totals.produced = lane->slots - lane->other_slots + lane->told;
	return totals;
}

void pft_lane_account(struct pft_lane *lane, bool so_far)
{
	struct pft_totals totals = pft_lane_totals(lane);

	totals.filtered += pft_calls_held(&lane->calls);
	if (lane->track != NULL)
		pft_trace_account(lane->track, totals, lane->foreign, so_far);
}

// The thread kept its own count of slots that are no event; where some were lost unread, it is the only one.
static void count_produced(struct pft_lane *lane)
{
	const struct pft_session_thread *entry = entry_of(lane);
	struct pft_totals *events = &lane->tally.events;

	events->produced = lane->slots - entry->other_slots + entry->dropped;
	if (lane->lost_slots != 0)
		events->dropped -= entry->other_slots - lane->other_slots;
}

static void end_track(struct pft_lane *lane)
{
	uint64_t end_ticks = entry_of(lane)->end_ticks;
	uint64_t ns = end_ticks != 0 ? time_of(lane, end_ticks) : lane->last_ns;

	tell_losses(lane, ns);
	// pthread_exit and cancellation leave calls open; their frames are gone with the thread.
	pft_calls_abandon(&lane->calls, ns);
	pft_watched_end_thread(&lane->calls.watched, ns);
	pft_fibers_retire(&lane->fibers, &lane->shared->strands.fibers);
	pft_trace_account(lane->track, lane->tally.events, lane->foreign, false);
	if (!is_closed(lane))
		pft_trace_instant(lane->track, ns, "thread end", "thread");
	pft_trace_retire(lane->track);
	lane->track = NULL;
}

void pft_lane_end(struct pft_lane *lane)
{
	if (!lane->live)
		return;
	drop_rest(lane);
	if (is_closed(lane))
		pft_lane_pause(lane);
	count_produced(lane);
	if (lane->track != NULL)
		end_track(lane);
	lane->live = false;
	touch(lane);
}

void pft_lane_close(struct pft_lane *lane)
{
	drop_rest(lane);
	if (is_closed(lane))
		pft_lane_pause(lane);
	tell_losses(lane, lane->last_ns);
	touch(lane);
}

void pft_lane_settle(struct pft_lane *lane)
{
	pft_calls_settle(&lane->calls, lane->last_ns);
}
