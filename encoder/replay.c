// SPDX-License-Identifier: MIT
// All lanes of a session, the clock that they share, and the round that makes what they told durable: see
// replay.h. Flusher context, or `recover`. The rule: file, then commit record, then the rings' room.
#include "encoder/replay.h"

#include <errno.h>
#include <stddef.h>

#include "encoder/base/arena.h"
#include "encoder/commit.h"
#include "encoder/json.h"
#include "encoder/lane.h"
#include "encoder/order.h"
#include "encoder/session.h"
#include "encoder/tally.h"
#include "encoder/timeline.h"

// CLOCK_BOOTTIME and CLOCK_MONOTONIC part while the machine is suspended, which takes longer than this;
// readings of the two part by what happened between them, which takes less.
#define SUSPENDED_NS 10000000

// Two readings this close to each other give a slope that is wrong by more than the clocks ever are.
#define CALIBRATION_MIN_NS 10000000

struct pft_replay {
	struct pft_lanes shared;
	struct pft_tally ended; // threads that have ended
	uint64_t boot_ahead_ns; // of CLOCK_MONOTONIC
	struct pft_clocks clocks; // latest reading
	uint64_t now_ns; // likewise
	uint64_t now_ticks; // likewise
	bool in_flight; // a thread may have recorded before that what is still to be drained
	uint64_t passed_ns; // what lies before this is drained, of all threads
	bool line_begun;
	uint32_t lanes_used; // lanes beyond this never had a thread
	uint64_t lost; // events that the file lacks and that are counted
	bool failed; // the file cannot be written
	struct pft_arena arena; // all of this lies in it
	struct pft_lane lanes[];
};

// ---- open -------------------------------------------------------------------------------------------

static struct pft_replay *allocate(uint32_t threads)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_replay *replay =
		pft_arena_alloc(&arena, sizeof *replay + threads * sizeof replay->lanes[0]);

	if (replay != NULL)
		replay->arena = arena;
	return replay;
}

static void release(struct pft_replay *replay)
{
	struct pft_arena arena = replay->arena;

	pft_arena_free(&arena);
}

static struct pft_filters filters_of(const struct pft_session *session)
{
	struct pft_filters filters = {
		.min_duration_ns = session->min_duration_ns,
		.depth_max = PFT_DEPTH_MAX,
	};

	if (session->max_depth != 0 && session->max_depth < PFT_DEPTH_MAX)
		filters.depth_max = (uint32_t)session->max_depth;
	return filters;
}

static struct pft_replay *open_behind(
	struct pft_session *session, int fd, struct pft_clocks clocks, uint32_t first_sequence)
{
	struct pft_replay *replay = allocate(session->threads_max);

	if (replay == NULL)
		return NULL;
	replay->shared.session = session;
	replay->shared.filters = filters_of(session);
	replay->shared.strands.arena = &replay->arena;
	replay->shared.strands.map.arena = &replay->arena;
	replay->shared.strands.fibers.arena = &replay->arena;
	replay->shared.strands.filters = &replay->shared.filters;
	replay->boot_ahead_ns = session->boot_ns - session->monotonic_ns;
	replay->clocks = clocks;
	replay->shared.trace = pft_trace_open(session, fd, clocks, first_sequence);
	if (replay->shared.trace == NULL) {
		release(replay);
		return NULL;
	}
	return replay;
}

struct pft_replay *pft_replay_open(struct pft_session *session, int fd, struct pft_clocks clocks)
{
	return open_behind(session, fd, clocks, 0);
}

void pft_replay_reopen(struct pft_replay *replay, int fd)
{
	pft_trace_reopen(replay->shared.trace, fd);
}

int pft_replay_json(struct pft_replay *replay, int fd)
{
	return pft_trace_json(replay->shared.trace, fd);
}

void pft_replay_watch(struct pft_replay *replay, struct pft_watch *watch)
{
	replay->shared.watch = watch;
}

// ---- clocks -----------------------------------------------------------------------------------------

// CLOCK_BOOTTIME at `ticks`. Monotonic ticks are nanoseconds that lag by a constant, unless the machine was
// suspended; taking the constant from each reading would bend a line that is straight.
static uint64_t boot_time(struct pft_replay *replay, uint64_t ticks, uint64_t boot_ns, uint64_t monotonic_ns)
{
	uint64_t ahead = boot_ns - monotonic_ns;

	if (replay->shared.session->clock != PFT_CLOCK_MONOTONIC)
		return boot_ns;
	if (ahead - replay->boot_ahead_ns + SUSPENDED_NS > 2 * SUSPENDED_NS)
		replay->boot_ahead_ns = ahead;
	return ticks + replay->boot_ahead_ns;
}

static void line_begin(struct pft_replay *replay, uint64_t ticks, uint64_t ns)
{
	const struct pft_session *session = replay->shared.session;
	uint64_t start_ns = boot_time(replay, session->start_ticks, session->boot_ns, session->monotonic_ns);

	pft_timeline_start(&replay->shared.line, session->start_ticks, start_ns, ticks, ns);
	replay->line_begun = ns - start_ns >= CALIBRATION_MIN_NS;
}

void pft_replay_clocks(struct pft_replay *replay, uint64_t ticks, struct pft_clocks clocks)
{
	uint64_t ns = boot_time(replay, ticks, clocks.boot_ns, clocks.monotonic_ns);

	if (replay->line_begun)
		pft_timeline_renew(&replay->shared.line, ticks, ns);
	else
		line_begin(replay, ticks, ns);
	replay->now_ns = ns;
	replay->now_ticks = ticks;
	// Threads that keep the newest events in their rings are not drained.
	replay->in_flight = replay->shared.session->overflow == PFT_OVERFLOW_OVERWRITE;
	replay->clocks = clocks;
	pft_trace_clocks(replay->shared.trace, clocks);
}

// ---- lanes ------------------------------------------------------------------------------------------

// A lane is made at its first use, so that memory is touched for as many as there are threads.
static struct pft_lane *lane_of(struct pft_replay *replay, uint32_t index)
{
	for (; replay->lanes_used <= index; replay->lanes_used++) {
		replay->lanes[replay->lanes_used].shared = &replay->shared;
		replay->lanes[replay->lanes_used].index = replay->lanes_used;
	}
	return &replay->lanes[index];
}

static void resume_lanes(struct pft_replay *replay, struct pft_commit *kept)
{
	struct pft_session *session = replay->shared.session;

	for (uint32_t index = 0; index < session->threads_max; index++) {
		const struct pft_session_thread *entry = pft_session_thread(session, index);
		const struct pft_commit_thread *thread = pft_commit_thread(kept, index);

		if (entry->state != PFT_THREAD_LIVE && entry->state != PFT_THREAD_ENDED)
			continue;
		if (thread->serial == entry->serial)
			pft_lane_resume(lane_of(replay, index), thread);
	}
}

static uint64_t held_by_lanes(const struct pft_replay *replay)
{
	uint64_t held = 0;

	for (uint32_t i = 0; i < replay->lanes_used; i++)
		held += replay->lanes[i].live ? pft_calls_held(&replay->lanes[i].calls) : 0;
	return held;
}

static uint64_t held_on_foreign_stacks(struct pft_replay *replay, struct pft_commit *kept)
{
	const struct pft_open_foreign *list = pft_commit_foreign(replay->shared.session, kept);
	uint64_t held = 0;

	for (uint32_t i = 0; i < kept->foreign; i++)
		held += (list[i].flags & (PFT_OPEN_WRITTEN | PFT_OPEN_DEEP)) == 0;
	return held;
}

// Begins that were held back and found no room in the record are lost.
static void drop_unknown(struct pft_replay *replay, struct pft_commit *kept)
{
	struct pft_totals sum = pft_replay_totals(replay);
	uint64_t known = sum.written + sum.filtered + sum.dropped + held_by_lanes(replay) +
			 held_on_foreign_stacks(replay, kept);

	replay->ended.events.dropped += sum.produced - known;
}

static struct pft_replay *resume_files(
	struct pft_session *session, const struct pft_commit *kept, int fd, int json_fd)
{
	struct pft_clocks clocks = {kept->boot_ns, kept->monotonic_ns, kept->real_ns};
	struct pft_json_point point = {.bytes = kept->json_bytes, .fibers = kept->json_fibers};
	struct pft_replay *replay = open_behind(session, fd, clocks, kept->sequences);

	if (replay == NULL || json_fd < 0 || pft_trace_json_resume(replay->shared.trace, json_fd, point) == 0)
		return replay;
	release(replay);
	return NULL;
}

struct pft_replay *pft_replay_resume(struct pft_session *session, int fd, int json_fd)
{
	struct pft_commit *kept = pft_session_commit(session, session->generation);
	struct pft_replay *replay = resume_files(session, kept, fd, json_fd);

	if (replay == NULL)
		return NULL;
	replay->shared.line = kept->timeline;
	replay->line_begun = true;
	replay->now_ns = kept->timeline.ns;
	replay->ended.events =
		(struct pft_totals){kept->produced, kept->written, kept->filtered, kept->dropped};
	replay->ended.safe = kept->written;
	session->segments = kept->segments;
	resume_lanes(replay, kept);
	pft_strands_resume(&replay->shared.strands, replay->shared.trace, pft_commit_foreign(session, kept),
		kept->foreign);
	drop_unknown(replay, kept);
	return replay;
}

void pft_replay_drain(struct pft_replay *replay, uint32_t index, uint32_t head, bool in_flight)
{
	struct pft_lane *lane = lane_of(replay, index);

	pft_lane_follow(lane);
	pft_lane_drain(lane, head);
	replay->in_flight |= in_flight;
	if (!in_flight)
		lane->known_ns = replay->now_ns;
}

bool pft_replay_advance(struct pft_replay *replay, uint32_t index, uint32_t head)
{
	struct pft_lane *lane = lane_of(replay, index);

	pft_lane_follow(lane);
	return pft_lane_advance(lane, head);
}

bool pft_replay_pass(struct pft_replay *replay, bool all)
{
	bool any = pft_order_pass(&replay->shared, all ? UINT64_MAX : replay->now_ticks);

	if (!replay->in_flight)
		replay->passed_ns = replay->now_ns;
	return any;
}

bool pft_replay_is_drained(const struct pft_replay *replay, uint32_t index)
{
	return pft_lane_is_drained(&replay->lanes[index]);
}

static void pause_strands(struct pft_replay *replay)
{
	uint64_t ticks = __atomic_load_n(&replay->shared.session->closed_ticks, __ATOMIC_RELAXED);

	pft_strands_pause(&replay->shared.strands, pft_timeline_ns(&replay->shared.line, ticks));
}

void pft_replay_pause(struct pft_replay *replay)
{
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		pft_lane_pause(&replay->lanes[i]);
	pause_strands(replay);
}

void pft_replay_end(struct pft_replay *replay, uint32_t index)
{
	struct pft_lane *lane = lane_of(replay, index);

	pft_lane_follow(lane);
	if (!lane->live)
		return;
	pft_lane_end(lane);
	pft_tally_add(&replay->ended, &lane->tally);
	lane->tally = (struct pft_tally){0};
}

uint32_t pft_replay_tail(const struct pft_replay *replay, uint32_t index)
{
	return replay->lanes[index].committed;
}

void pft_replay_mark(struct pft_replay *replay, uint32_t index, const char *name)
{
	pft_lane_mark(lane_of(replay, index), name);
}

struct pft_totals pft_replay_totals(const struct pft_replay *replay)
{
	uint64_t unseated = __atomic_load_n(&replay->shared.session->unseated, __ATOMIC_RELAXED);
	struct pft_totals sum = replay->ended.events;

	sum.produced += unseated;
	sum.dropped += unseated;
	pft_totals_add(&sum, &replay->shared.strands.tally.events);
	for (uint32_t i = 0; i < replay->lanes_used; i++) {
		struct pft_totals totals = pft_lane_totals(&replay->lanes[i]);

		pft_totals_add(&sum, &totals);
	}
	return sum;
}

uint64_t pft_replay_trace_bytes(const struct pft_replay *replay)
{
	return pft_trace_bytes(replay->shared.trace);
}

uint64_t pft_replay_file_bytes(const struct pft_replay *replay)
{
	return pft_trace_file_bytes(replay->shared.trace);
}

// ---- commit -----------------------------------------------------------------------------------------

// Without the filter no begin is ever held back. With it one is written once nothing that is still to be
// drained can be an earlier end of its call.
static void ripen(struct pft_replay *replay)
{
	if (replay->shared.filters.min_duration_ns == 0)
		return;
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		if (replay->lanes[i].live)
			pft_lane_ripen(&replay->lanes[i]);
	pft_strands_ripen(&replay->shared.strands, replay->passed_ns);
}

// What was told since the last commit is in the file, but for what the file says that it lacks.
static void settle_tallies(struct pft_replay *replay)
{
	uint64_t lost_by_now = pft_trace_lost(replay->shared.trace);
	uint64_t lost = lost_by_now - replay->lost;

	replay->lost = lost_by_now;
	if (lost_by_now == UINT64_MAX)
		lost = UINT64_MAX;
	pft_tally_lose(&replay->ended, &lost);
	pft_tally_lose(&replay->shared.strands.tally, &lost);
	for (struct pft_lane *lane = replay->shared.stale; lane != NULL; lane = lane->next_stale)
		pft_tally_lose(&lane->tally, &lost);
}

// Gives the rings' room back, and forgets lanes that both records know all about.
static void move_tails(struct pft_replay *replay)
{
	struct pft_lane **link = &replay->shared.stale;

	while (*link != NULL) {
		struct pft_lane *lane = *link;

		lane->committed = lane->tail;
		if (lane->stale == 0)
			*link = lane->next_stale;
		else
			link = &lane->next_stale;
	}
}

static void write_record(struct pft_replay *replay)
{
	struct pft_totals totals = replay->ended.events;
	struct pft_commit head = {
		.trace_bytes = pft_trace_bytes(replay->shared.trace),
		.segments = replay->shared.session->segments,
		.json_bytes = pft_trace_json_point(replay->shared.trace).bytes,
		.json_fibers = pft_trace_json_point(replay->shared.trace).fibers,
		.timeline = replay->shared.line,
		.boot_ns = replay->clocks.boot_ns,
		.monotonic_ns = replay->clocks.monotonic_ns,
		.real_ns = replay->clocks.real_ns,
		.sequences = pft_trace_sequences(replay->shared.trace),
	};

	pft_totals_add(&totals, &replay->shared.strands.tally.events);
	head.produced = totals.produced;
	head.written = totals.written;
	head.filtered = totals.filtered;
	head.dropped = totals.dropped;
	pft_commit_write(replay->shared.session, &head, replay->shared.stale, &replay->shared.strands);
}

static int flush(struct pft_replay *replay)
{
	int error = pft_trace_flush(replay->shared.trace);

	replay->failed = replay->failed || error != 0;
	settle_tallies(replay);
	return error;
}

int pft_replay_commit(struct pft_replay *replay)
{
	int error;

	ripen(replay);
	error = flush(replay);
	write_record(replay);
	move_tails(replay);
	return error;
}

// Begins that are held back count as filtered so far.
static struct pft_totals totals_so_far(const struct pft_replay *replay)
{
	struct pft_totals totals = pft_replay_totals(replay);

	totals.filtered += held_by_lanes(replay) + pft_strands_held(&replay->shared.strands);
	return totals;
}

static void account(struct pft_replay *replay, bool so_far)
{
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		if (replay->lanes[i].live)
			pft_lane_account(&replay->lanes[i], so_far);
}

static void say_totals_so_far(struct pft_replay *replay)
{
	account(replay, true);
	pft_trace_totals(replay->shared.trace, totals_so_far(replay));
}

void pft_replay_say_totals(struct pft_replay *replay, uint32_t leaving)
{
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		if (replay->lanes[i].live && leaving != 0 && pft_lane_tid(&replay->lanes[i]) == leaving)
			pft_lane_write_all(&replay->lanes[i]);
	ripen(replay);
	pft_trace_hold_nothing(replay->shared.trace);
	say_totals_so_far(replay);
}

// No thread records any more: a call of one that waits has lasted for as long as any other has recorded.
static void ripen_to_the_latest(struct pft_replay *replay)
{
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		if (replay->lanes[i].live && replay->lanes[i].last_ns > replay->now_ns)
			replay->now_ns = replay->lanes[i].last_ns;
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		replay->lanes[i].known_ns = replay->now_ns;
	replay->passed_ns = replay->now_ns;
	ripen(replay);
}

// ---- segments ---------------------------------------------------------------------------------------

int pft_replay_turn(struct pft_replay *replay, uint32_t number, int fd, int json_fd)
{
	struct pft_segments *segments = &replay->shared.session->segments;
	uint64_t written = pft_replay_totals(replay).written;
	int error;

	say_totals_so_far(replay);
	error = flush(replay);
	if (error != 0 || replay->failed)
		return error != 0 ? error : -EIO;
	segments->number = number;
	segments->written_before = written;
	pft_trace_turn(replay->shared.trace, fd, json_fd, replay->passed_ns);
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		if (replay->lanes[i].live)
			pft_lane_continue(&replay->lanes[i]);
	pft_strands_continue(&replay->shared.strands);
	return pft_replay_commit(replay);
}

static void for_live_lanes(struct pft_replay *replay, void (*act)(struct pft_lane *))
{
	for (uint32_t i = 0; i < replay->lanes_used; i++)
		if (replay->lanes[i].live)
			act(&replay->lanes[i]);
}

int pft_replay_close(struct pft_replay *replay, struct pft_totals *totals)
{
	int commit_error, flush_error, close_error;

	pft_replay_pass(replay, true);
	ripen_to_the_latest(replay);
	for_live_lanes(replay, pft_lane_close);
	if (pft_window_is_closed(pft_session_window(replay->shared.session)))
		pause_strands(replay);
	commit_error = pft_replay_commit(replay);
	// What is let go from here on the record lists as held back.
	for_live_lanes(replay, pft_lane_settle);
	pft_strands_settle(&replay->shared.strands, replay->now_ns);
	account(replay, false);
	flush_error = flush(replay);
	*totals = pft_replay_totals(replay);
	close_error = pft_trace_close(replay->shared.trace, *totals);
	release(replay);
	commit_error = commit_error != 0 ? commit_error : flush_error;
	return commit_error != 0 ? commit_error : close_error;
}
