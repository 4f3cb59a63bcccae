// SPDX-License-Identifier: MIT
// The flusher's life, and draining rings into encoder verbs: the only file that knows both sides. Flusher
// context, but for the verbs of flusher.h. The rule of each round: drain, commit, and only then give room
// back.
#include "shim/flusher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "encoder/replay.h"
#include "shim/hot/guest.h"
#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"

#define NAP_NS 100000000u // between two rounds while there is work
#define CHORES_NS UINT64_C(1000000000) // between two looks at names and dead threads
#define STUCK_NS UINT64_C(3000000000) // without progress, at exit

enum order { ORDER_RUN, ORDER_STOP, ORDER_FINISH };

static struct {
	const struct pft_place *place;
	struct pft_replay *replay;
	int fd; // of the trace, in the file table of the context that runs
	uint32_t order; // enum order; written by the app, read by the thread
	uint32_t opened; // 1: the thread has its file; a futex word
	uint32_t rounds; // progress, for those who wait
	uint64_t chores_ns;
	int error; // the first that writing met
	struct pft_totals totals;
} flusher;

static struct pft_clocks clocks_of(const struct pft_clock_reading *now)
{
	return (struct pft_clocks){now->boot_ns, now->monotonic_ns, now->real_ns};
}

static void note(int error)
{
	if (error < 0 && !flusher.error)
		flusher.error = error;
}

// ---- a round ----------------------------------------------------------------------------------------

static void give_room_back(struct pft_self *self, uint32_t tail)
{
	__atomic_store_n(&self->tail, tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&self->waiting, __ATOMIC_SEQ_CST))
		pft_sys_futex(&self->tail, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void free_seat(struct pft_session_thread *entry, uint32_t index)
{
	pft_replay_end(flusher.replay, index);
	note(pft_replay_commit(flusher.replay));
	__atomic_store_n(&entry->state, PFT_THREAD_FREE, __ATOMIC_RELEASE);
}

// True when there was something to drain.
static bool drain_thread(struct pft_self *self, uint32_t index)
{
	struct pft_session_thread *entry = pft_session_thread(pft_session, index);
	uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
	uint32_t head;

	if (state != PFT_THREAD_LIVE && state != PFT_THREAD_ENDED)
		return false;
	head = state == PFT_THREAD_ENDED ? pft_self_seat(self)->position
					 : pft_head_position(__atomic_load_n(&self->head, __ATOMIC_ACQUIRE));
	pft_replay_drain(flusher.replay, index, head);
	if (state == PFT_THREAD_ENDED) {
		free_seat(entry, index);
		return true;
	}
	if (head == __atomic_load_n(&self->tail, __ATOMIC_RELAXED))
		return false;
	note(pft_replay_commit(flusher.replay));
	give_room_back(self, pft_replay_tail(flusher.replay, index));
	return true;
}

static bool is_flight_recorder(void)
{
	return pft_session->overflow == 2;
}

// In overwrite mode the rings are the record: only threads that have ended are drained before the end.
static bool is_due(uint32_t index, bool last)
{
	uint32_t state = __atomic_load_n(&pft_session_thread(pft_session, index)->state, __ATOMIC_ACQUIRE);

	return last || !is_flight_recorder() || state == PFT_THREAD_ENDED;
}

static bool drain_all(bool last)
{
	struct pft_self *self;
	bool any = false;
	uint32_t index;

	for (index = 0; (self = pft_self_at(index)); index++)
		if (is_due(index, last))
			any |= drain_thread(self, index);
	__atomic_add_fetch(&flusher.rounds, 1, __ATOMIC_RELAXED);
	return any;
}

// ---- chores -----------------------------------------------------------------------------------------

static void renew_clocks(void)
{
	struct pft_clock_reading now = pft_clock_read();

	pft_replay_clocks(flusher.replay, now.ticks, clocks_of(&now));
}

// The kernel knows a thread's name however the program set it.
static void refresh_name(struct pft_session_thread *entry)
{
	char path[64];
	struct pft_text text = pft_text_in(path, sizeof(path));
	long fd, size;

	pft_text_add(&text, "/proc/self/task/");
	pft_text_add_number(&text, entry->tid);
	pft_text_add(&text, "/comm");
	fd = pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (pft_session_name_begin(entry)) {
		size = pft_sys_read((int)fd, entry->name, sizeof(entry->name));
		if (size > 0)
			entry->name[size - 1] = '\0'; // the newline
		pft_session_name_end(entry);
	}
	pft_sys_close((int)fd);
}

// A thread that nobody announced does not say when it ends either.
static bool is_gone(const struct pft_session_thread *entry)
{
	return pft_sys3(SYS_tgkill, pft_session->pid, entry->tid, 0) == -ESRCH;
}

static void bury(struct pft_self *self, struct pft_session_thread *entry)
{
	entry->end_ticks = pft_clock_ticks();
	pft_self_seat(self)->position = pft_head_position(__atomic_load_n(&self->head, __ATOMIC_ACQUIRE));
	__atomic_store_n(&entry->state, PFT_THREAD_ENDED, __ATOMIC_RELEASE);
}

static void look_after_threads(void)
{
	struct pft_self *self;
	uint32_t index;

	for (index = 0; (self = pft_self_at(index)); index++) {
		struct pft_session_thread *entry = pft_session_thread(pft_session, index);

		if (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) != PFT_THREAD_LIVE)
			continue;
		if (is_gone(entry))
			bury(self, entry);
		else
			refresh_name(entry);
	}
}

static void do_chores(bool now)
{
	uint64_t now_ns = pft_clock_ns(CLOCK_MONOTONIC);

	if (!now && now_ns - flusher.chores_ns < CHORES_NS)
		return;
	flusher.chores_ns = now_ns;
	look_after_threads();
}

// ---- sleeping ---------------------------------------------------------------------------------------

// Every thread's next event shall take the slow path, where it sees that we sleep. No fence is needed on
// the hot path: one more look after a nap sees what was recorded before the limits were seen.
static void arm(void)
{
	struct pft_self *self;
	uint32_t index;

	for (index = 0; (self = pft_self_at(index)); index++) {
		uint32_t head = pft_head_position(__atomic_load_n(&self->head, __ATOMIC_RELAXED));

		__atomic_store_n(&self->begin_limit, head, __ATOMIC_SEQ_CST);
		__atomic_store_n(&self->end_limit, head, __ATOMIC_SEQ_CST);
	}
}

static bool has_order(void)
{
	return __atomic_load_n(&flusher.order, __ATOMIC_SEQ_CST) != ORDER_RUN;
}

static bool is_waited_for(void)
{
	struct pft_self *self;
	uint32_t index;

	for (index = 0; (self = pft_self_at(index)); index++)
		if (__atomic_load_n(&self->waiting, __ATOMIC_SEQ_CST))
			return true;
	return false;
}

// Who wants us sets his word, then looks whether we sleep; we say that we sleep, then look at the words.
static void sleep_for(const struct timespec *time)
{
	__atomic_store_n(&pft_flusher_asleep, 1, __ATOMIC_SEQ_CST);
	if (!has_order() && !is_waited_for())
		pft_sys_futex(&pft_flusher_asleep, FUTEX_WAIT_PRIVATE, 1, time);
	__atomic_store_n(&pft_flusher_asleep, 0, __ATOMIC_SEQ_CST);
}

// One nap, and when nothing happened in it, and nothing in the nap after the threads were armed, for as long
// as nothing happens.
static void rest(unsigned idle_rounds)
{
	const struct timespec nap = {0, NAP_NS};

	if (idle_rounds == 1)
		arm();
	sleep_for(idle_rounds < 2 ? &nap : NULL);
}

// ---- life -------------------------------------------------------------------------------------------

static int open_replay(void)
{
	struct pft_clock_reading now = pft_clock_read();
	long fd = pft_place_open(flusher.place);

	if (fd < 0)
		return (int)fd;
	flusher.fd = (int)fd;
	if (flusher.replay)
		pft_replay_reopen(flusher.replay, flusher.fd);
	else
		flusher.replay = pft_replay_open(pft_session, flusher.fd, clocks_of(&now));
	return flusher.replay ? 0 : -ENOMEM;
}

static void finish(void)
{
	do_chores(true);
	arm();
	renew_clocks();
	drain_all(true);
	note(pft_replay_close(flusher.replay, &flusher.totals));
	flusher.replay = NULL;
}

// Complete as far as it goes: the program may be about to exec.
static void pause_trace(void)
{
	do_chores(true);
	renew_clocks();
	drain_all(true);
	pft_replay_say_totals(flusher.replay);
	note(pft_replay_commit(flusher.replay));
}

static void work(void)
{
	unsigned idle_rounds = 0;

	while (!has_order()) {
		renew_clocks();
		do_chores(false);
		if (drain_all(false))
			idle_rounds = 0;
		else
			idle_rounds++;
		rest(idle_rounds);
	}
}

static void run(void)
{
	int error = open_replay();

	note(error);
	__atomic_store_n(&flusher.opened, 1, __ATOMIC_RELEASE);
	pft_sys_futex(&flusher.opened, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
	if (error)
		return;
	work();
	if (flusher.order == ORDER_FINISH)
		finish();
	else
		pause_trace();
	pft_sys_close(flusher.fd);
}

// ---- verbs ------------------------------------------------------------------------------------------

void pft_flusher_prepare(const struct pft_place *place)
{
	flusher.place = place;
	flusher.replay = NULL;
	flusher.order = ORDER_RUN;
	flusher.error = 0;
	flusher.opened = 0;
	__atomic_store_n(&pft_flusher_asleep, 0, __ATOMIC_RELAXED);
	pft_guest_prepare(run);
}

// Waits while the thread makes progress. A file system that hangs must not hang the program.
static bool await_end(void)
{
	uint32_t rounds;

	do {
		rounds = __atomic_load_n(&flusher.rounds, __ATOMIC_RELAXED);
		if (pft_guest_join(STUCK_NS))
			return true;
	} while (rounds != __atomic_load_n(&flusher.rounds, __ATOMIC_RELAXED));
	return false;
}

// By the thread, when it runs; else here.
static bool carry_out(enum order order)
{
	__atomic_store_n(&flusher.order, order, __ATOMIC_SEQ_CST);
	if (pft_guest_refuse()) {
		run();
		return true;
	}
	pft_ring_wake_flusher();
	return await_end();
}

bool pft_flusher_stop(void)
{
	return carry_out(ORDER_STOP);
}

void pft_flusher_ready(void)
{
	const struct timespec nap = {0, 1000000};
	unsigned naps;

	pft_guest_want();
	for (naps = 0; naps < 1000 && !__atomic_load_n(&flusher.opened, __ATOMIC_ACQUIRE); naps++)
		pft_sys_futex(&flusher.opened, FUTEX_WAIT_PRIVATE, 0, &nap);
}

void pft_flusher_start(void)
{
	flusher.opened = 0;
	__atomic_store_n(&flusher.order, ORDER_RUN, __ATOMIC_SEQ_CST);
	pft_guest_allow();
}

int pft_flusher_finish(struct pft_totals *totals)
{
	if (!carry_out(ORDER_FINISH))
		return -ETIMEDOUT;
	*totals = flusher.totals;
	return flusher.error;
}
