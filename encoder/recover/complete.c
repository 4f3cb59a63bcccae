// SPDX-License-Identifier: MIT
// The flusher's last round, for a process that is dead: see complete.h. An ordinary program's context.
#include "encoder/recover/complete.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "encoder/recover/cut.h"
#include "encoder/recover/head.h"
#include "encoder/replay.h"
#include "encoder/timeline.h"

static uint64_t boot_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// The rate of the counter is the machine's: what it is now it was then. Twenty milliseconds tell it to a few
// parts in 100,000, of the few milliseconds that lie before the first commit.
static uint64_t counter_rate(void)
{
	struct pft_timeline line;
	uint64_t ticks = __rdtsc();
	uint64_t ns = boot_ns();

	nanosleep(&(struct timespec){0, 20000000}, NULL);
	pft_timeline_start(&line, ticks, ns, __rdtsc(), boot_ns());
	return line.rate;
}

// Killed before its first commit: all that is known of the clocks is the reading at the start.
static void begin_clocks(struct pft_session *session, struct pft_commit *kept)
{
	kept->boot_ns = session->boot_ns;
	kept->monotonic_ns = session->monotonic_ns;
	kept->real_ns = session->real_ns;
	kept->timeline.ticks = session->start_ticks;
	kept->timeline.ns = session->boot_ns;
	if (session->clock == PFT_CLOCK_MONOTONIC)
		kept->timeline.ns -= session->monotonic_ns - session->start_ticks;
	kept->timeline.rate = session->clock == PFT_CLOCK_MONOTONIC ? UINT64_C(1) << 32 : counter_rate();
}

static void drain(struct pft_session *session, struct pft_replay *replay)
{
	for (uint32_t index = 0; index < session->threads_max; index++) {
		uint32_t state = pft_session_thread(session, index)->state;

		if (state == PFT_THREAD_LIVE || state == PFT_THREAD_ENDED)
			pft_replay_drain(replay, index, pft_head_find(session, index), false);
	}
	pft_replay_pass(replay, true);
	for (uint32_t index = 0; index < session->threads_max; index++)
		if (pft_session_thread(session, index)->state == PFT_THREAD_ENDED)
			pft_replay_end(replay, index);
}

int pft_complete(struct pft_session *session, int fd, int json_fd, struct pft_completed *completed)
{
	struct pft_commit *kept = pft_session_commit(session, session->generation);
	struct pft_replay *replay;
	uint64_t before;
	int result;

	if (session->generation == 0)
		begin_clocks(session, kept);
	result = pft_cut(kept, fd, json_fd);
	if (result != 0)
		return result;
	replay = pft_replay_resume(session, fd, json_fd);
	if (replay == NULL)
		return -ENOMEM;
	before = pft_replay_totals(replay).produced;
	drain(session, replay);
	result = pft_replay_close(replay, &completed->totals);
	completed->found = completed->totals.produced - before;
	return result;
}
