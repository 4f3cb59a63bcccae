// SPDX-License-Identifier: MIT
// Draining rings into the encoder, thread by thread. Flusher context. The rule: drain, commit, and only then
// give room back.
#include "shim/round.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/resource.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "encoder/replay.h"
#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"
#include "shim/hot/window.h"
#include "shim/proc.h"
#include "shim/segments.h"

// ---- draining ---------------------------------------------------------------------------------------

static uint32_t state_of(uint32_t index)
{
	return __atomic_load_n(&pft_session_thread(pft_session, index)->state, __ATOMIC_ACQUIRE);
}

struct head {
	uint32_t position;
	bool in_flight; // a writer has read the clock, or will; its record comes behind the position
};

// Who records makes `busy` the position first and reads the clock then (ring.h). It is read first here: a
// record that is committed in between is in front of the head.
static struct head head_of(struct pft_self *self, uint32_t state)
{
	uint32_t busy, position;

	if (state == PFT_THREAD_ENDED)
		return (struct head){pft_self_seat(self)->position, false};
	busy = __atomic_load_n(&self->busy, __ATOMIC_ACQUIRE);
	position = pft_head_position(__atomic_load_n(&self->head, __ATOMIC_ACQUIRE));
	return (struct head){position, busy == position};
}

// The waiter sets `waiting` anew at each turn; taking it here also forgets one that left by siglongjmp.
static void give_room_back(struct pft_self *self, uint32_t tail)
{
	pft_ring_expect_room();
	__atomic_store_n(&self->tail, tail, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&self->waiting, 0, __ATOMIC_SEQ_CST))
		pft_sys_futex(&self->tail, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static int end_thread(struct pft_replay *replay, uint32_t index)
{
	int error;

	pft_replay_end(replay, index);
	error = pft_replay_commit(replay);
	__atomic_store_n(&pft_session_thread(pft_session, index)->state, PFT_THREAD_FREE, __ATOMIC_RELEASE);
	return error ? error : 1;
}

static int drain_thread(struct pft_replay *replay, struct pft_self *self, uint32_t index, uint32_t state)
{
	struct head head = head_of(self, state);
	int error;

	pft_replay_drain(replay, index, head.position, head.in_flight);
	// Before the thread has room again: what is recorded beyond the count is at most what a ring holds.
	if (pft_window_counts())
		pft_window_count(pft_replay_totals(replay).produced);
	if (state == PFT_THREAD_ENDED && pft_replay_is_drained(replay, index))
		return end_thread(replay, index);
	if (head.position == __atomic_load_n(&self->tail, __ATOMIC_RELAXED))
		return 0;
	error = pft_replay_commit(replay);
	give_room_back(self, pft_replay_tail(replay, index));
	return error ? error : 1;
}

// There was something to drain.
static int follow_segments(struct pft_replay *replay, struct pft_files *files)
{
	int error = pft_segments_follow(replay, files);

	return error ? error : 1;
}

static bool keeps_newest(uint32_t state)
{
	return state == PFT_THREAD_LIVE && pft_session->overflow == PFT_OVERFLOW_OVERWRITE;
}

// A ring is written once round in the time of some ten thousand calls, and positions come round after 4 GiB.
static int advance_thread(struct pft_replay *replay, struct pft_self *self, uint32_t index)
{
	int error;

	if (!pft_replay_advance(replay, index, head_of(self, PFT_THREAD_LIVE).position))
		return 0;
	error = pft_replay_commit(replay);
	give_room_back(self, pft_replay_tail(replay, index));
	return error ? error : 1;
}

static int look_at(
	struct pft_replay *replay, struct pft_self *self, uint32_t index, uint32_t state, bool last)
{
	if (state != PFT_THREAD_LIVE && state != PFT_THREAD_ENDED)
		return 0;
	return keeps_newest(state) && !last ? advance_thread(replay, self, index)
					    : drain_thread(replay, self, index, state);
}

static int drain_threads(struct pft_replay *replay, struct pft_files *files, bool last, uint32_t *progress)
{
	struct pft_self *self;
	int result = 0;

	for (uint32_t index = 0; (self = pft_self_from(&index)); index++) {
		int drained = look_at(replay, self, index, state_of(index), last);

		if (drained > 0)
			drained = follow_segments(replay, files);
		if (result >= 0 && drained != 0)
			result = drained;
		__atomic_add_fetch(progress, 1, __ATOMIC_RELAXED);
	}
	return result;
}

// The threads that a pass has helped on are ended and given room by draining them once more.
int pft_round_drain(struct pft_replay *replay, struct pft_files *files, bool last, uint32_t *progress)
{
	int result = drain_threads(replay, files, last, progress);

	while (pft_replay_pass(replay, false)) {
		int drained = drain_threads(replay, files, last, progress);

		if (result >= 0 && drained != 0)
			result = drained;
	}
	return result;
}

// ---- looking after ----------------------------------------------------------------------------------

void pft_round_renew_clocks(struct pft_replay *replay)
{
	struct pft_clock_reading now = pft_clock_read();

	pft_replay_clocks(replay, now.ticks, (struct pft_clocks){now.boot_ns, now.monotonic_ns, now.real_ns});
}

static long open_name(uint32_t tid)
{
	char path[64];
	struct pft_text text = pft_text_in(path, sizeof(path));

	pft_text_add(&text, "/proc/self/task/");
	pft_text_add_number(&text, tid);
	pft_text_add(&text, "/comm");
	return pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
}

// The kernel knows a thread's name however the program set it.
static void refresh_name(struct pft_session_thread *entry)
{
	char name[PFT_NAME_BYTES] = "";
	long fd = open_name(entry->tid);
	long size;

	if (fd < 0)
		return;
	size = pft_sys_read((int)fd, name, sizeof(name));
	pft_sys_close((int)fd);
	if (size <= 0)
		return;
	name[size - 1] = '\0'; // the newline
	pft_self_name(entry, name);
}

// A thread that nobody announced does not say when it ends either.
static bool is_gone(const struct pft_session_thread *entry)
{
	return pft_sys3(SYS_tgkill, pft_session->pid, entry->tid, 0) == -ESRCH;
}

static void bury(struct pft_self *self, struct pft_session_thread *entry)
{
	entry->end_ticks = pft_clock_ticks();
	pft_self_seat(self)->position = head_of(self, PFT_THREAD_LIVE).position;
	__atomic_store_n(&entry->state, PFT_THREAD_ENDED, __ATOMIC_RELEASE);
}

void pft_round_look_after_threads(void)
{
	struct pft_self *self;

	for (uint32_t index = 0; (self = pft_self_from(&index)); index++) {
		struct pft_session_thread *entry = pft_session_thread(pft_session, index);

		if (state_of(index) != PFT_THREAD_LIVE)
			continue;
		if (is_gone(entry))
			bury(self, entry);
		else
			refresh_name(entry);
	}
}

// In KiB. getrusage has a peak as well, but keeps over exec what another program took before.
static uint64_t peak_kib(void)
{
	static const char key[] = "\nVmHWM:";
	char status[1024];
	const char *at = pft_proc_read(0, "/status", status, sizeof(status)) ? strstr(status, key) : NULL;

	if (!at)
		return 0;
	at += sizeof(key) - 1;
	while (*at == '\t' || *at == ' ')
		at++;
	return pft_proc_number(at);
}

void pft_round_measure_process(void)
{
	struct rusage usage = {0};

	if (pft_sys2(SYS_getrusage, RUSAGE_SELF, &usage) != 0)
		return;
	pft_session->peak_rss_bytes = peak_kib() << 10;
	pft_session->minor_faults = (uint64_t)usage.ru_minflt;
	pft_session->major_faults = (uint64_t)usage.ru_majflt;
}

// ---- before sleep -----------------------------------------------------------------------------------

bool pft_round_is_waited_for(void)
{
	struct pft_self *self;
	bool waited_for = false;

	for (uint32_t index = 0; (self = pft_self_from(&index)); index++)
		waited_for |= __atomic_load_n(&self->waiting, __ATOMIC_SEQ_CST);
	return waited_for;
}
