// SPDX-License-Identifier: MIT
// The flusher's life: its thread's loop, and the verbs by which the program's threads stop it, start it and
// let it finish. Flusher context, but for the verbs.
#include "shim/flusher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/out.h"
#include "encoder/replay.h"
#include "shim/control.h"
#include "shim/hot/clock.h"
#include "shim/hot/guest.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"
#include "shim/hot/trigger.h"
#include "shim/hot/signals.h"
#include "shim/hot/window.h"
#include "shim/round.h"
#include "shim/segments.h"

#define NAP_NS 100000000u // between two rounds while there is work
#define CHORES_NS UINT64_C(1000000000) // between two looks at names, dead threads and memory
#define NS_A_SECOND UINT64_C(1000000000)
#define STUCK_NS UINT64_C(3000000000) // without progress, for those who wait
#define OUT_OF_THE_WAY 700 // descriptors from here on are few programs' usual ones

// Who gave a stop and has no more patience may take it back, until the thread says that it has stopped.
enum order { ORDER_RUN, ORDER_FOLLOW, ORDER_STOP, ORDER_STOPPED, ORDER_FINISH };

#define GROUPS_MAX 65536 // NGROUPS_MAX

// Who the program's thread has become.
static struct {
	uid_t user[3], group[3]; // real, effective, saved
	long group_count;
	gid_t groups[GROUPS_MAX];
	const void *capabilities[2]; // arguments of capset, or NULL
} identity;

static struct {
	bool report_wanted, say_report;
	struct pft_replay *replay;
	struct pft_watch *watch; // NULL: no report is asked for, or there was no memory
	struct pft_files files; // in the file table of the context that runs
	struct pft_files handed; // that the thread shall go on with, or none; in the program's table
	struct stat handed_are[PFT_FILES]; // the program may put others under these numbers
	uint32_t verb; // the thread that carries one out, or 0; a futex word
	uint64_t signals; // that it had blocked before
	uint32_t order; // enum order; written by a verb, read by the thread
	uint32_t leaving; // with ORDER_STOP: the thread that is about to execute another program, or 0
	uint32_t opened; // 1: the thread has its file; a futex word
	uint32_t progress; // for those who wait
	bool stuck; // one of them has waited in vain
	uint32_t stuck_at; // the progress that there was then
	uint32_t finished; // 1: the last drain is done
	uint64_t chores_ns;
	uint32_t window; // as it was in the last round
	int error; // the first that writing met
	struct pft_totals totals;
	struct pft_said report;
} flusher;

static void note(int error)
{
	if (error < 0 && !flusher.error)
		flusher.error = error;
}

static bool drain(bool last)
{
	int result = pft_round_drain(flusher.replay, &flusher.files, last, &flusher.progress);

	note(result);
	return result != 0;
}

static void do_chores(bool now)
{
	uint64_t now_ns = pft_clock_ns(CLOCK_MONOTONIC);

	if (!now && now_ns - flusher.chores_ns < CHORES_NS)
		return;
	flusher.chores_ns = now_ns;
	pft_round_look_after_threads();
	pft_round_measure_process();
}

// ---- sleeping ---------------------------------------------------------------------------------------

static bool order_is(uint32_t order)
{
	return __atomic_load_n(&flusher.order, __ATOMIC_SEQ_CST) == order;
}

static bool has_order(void)
{
	return !order_is(ORDER_RUN);
}

// Who wants us sets his word, then looks whether we sleep; we say that we sleep, then look at the words. True
// when somebody woke us.
static bool sleep_for(const struct timespec *time)
{
	uint32_t *word = &pft_session->flusher_asleep;
	uint32_t kind = time ? PFT_ASLEEP_NAP : PFT_ASLEEP_LONG;

	__atomic_store_n(word, kind, __ATOMIC_SEQ_CST);
	if (has_order() || pft_control_is_asked() || pft_round_is_waited_for() ||
		(!time && pft_trigger_is_met()))
		return true;
	pft_sys_futex(word, FUTEX_WAIT, kind, time);
	return __atomic_exchange_n(word, PFT_ASLEEP_NONE, __ATOMIC_SEQ_CST) == PFT_ASLEEP_NONE;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t time_until(uint64_t due_ns)
{
	uint64_t now_ns = pft_clock_ns(CLOCK_MONOTONIC);

	return due_ns > now_ns ? due_ns - now_ns : 0;
}

// A nap after each round. After a round without events the threads are armed before it; when that nap runs
// out and the round behind it finds nothing either, there is no need to wake up until somebody wakes us.
static unsigned rest(unsigned idle_rounds)
{
	uint64_t ns = idle_rounds < 2 ? NAP_NS : UINT64_MAX;
	uint64_t due_ns = pft_window_due_ns();
	struct timespec nap;

	if (idle_rounds == 1)
		pft_ring_arm_all();
	if (due_ns != UINT64_MAX)
		ns = least(ns, time_until(due_ns));
	nap = (struct timespec){(time_t)(ns / NS_A_SECOND), (long)(ns % NS_A_SECOND)};
	return sleep_for(ns != UINT64_MAX ? &nap : NULL) ? 0 : idle_rounds;
}

// ---- the thread -------------------------------------------------------------------------------------

static int move_away(int fd)
{
	return fd < 0 ? -1 : (int)pft_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OUT_OF_THE_WAY);
}

// To where few programs have descriptors. All or none.
static bool move_files_away(struct pft_files *files)
{
	struct pft_files low = *files;
	bool whole = true;

	for (int file = 0; file < PFT_FILES; file++) {
		files->fds[file] = move_away(low.fds[file]);
		whole &= files->fds[file] >= 0 || low.fds[file] < 0;
	}
	if (!whole)
		pft_files_close(files);
	pft_files_close(&low);
	return whole;
}

static bool is_handed(int file)
{
	const struct stat *is = &flusher.handed_are[file];
	struct stat found;

	return flusher.handed.fds[file] >= 0 && pft_sys_fstat(flusher.handed.fds[file], &found) == 0 &&
	       found.st_dev == is->st_dev && found.st_ino == is->st_ino;
}

static bool all_are_handed(void)
{
	for (int file = 0; file < PFT_FILES; file++)
		if (flusher.handed.fds[file] >= 0 && !is_handed(file))
			return false;
	return pft_files_are_open(&flusher.handed);
}

static int open_files(void)
{
	struct pft_files handed = flusher.handed;
	int error;

	flusher.files = handed;
	if (all_are_handed())
		return 0;
	if (pft_guest_is_apart()) // copies of the program's own, if any
		pft_files_close(&handed);
	error = pft_segments_open(&flusher.files);
	if (!error && !pft_guest_is_apart() && !move_files_away(&flusher.files))
		error = -EMFILE;
	return error;
}

static void start_watch(void)
{
	flusher.watch = flusher.report_wanted ? pft_watch_open(pft_session) : NULL;
	if (flusher.replay && flusher.watch)
		pft_replay_watch(flusher.replay, flusher.watch);
}

static int open_replay(void)
{
	struct pft_clock_reading now = pft_clock_read();
	struct pft_clocks clocks = {now.boot_ns, now.monotonic_ns, now.real_ns};
	int error = open_files();

	if (error)
		return error;
	if (flusher.replay) {
		pft_replay_reopen(flusher.replay, flusher.files.fds[PFT_FILE_TRACE]);
	} else {
		flusher.replay = pft_replay_open(pft_session, flusher.files.fds[PFT_FILE_TRACE], clocks);
		start_watch();
	}
	if (!flusher.replay)
		return -ENOMEM;
	return flusher.files.fds[PFT_FILE_JSON] < 0
		       ? 0
		       : pft_replay_json(flusher.replay, flusher.files.fds[PFT_FILE_JSON]);
}

// Somebody has removed them while we wrote.
static bool files_are_gone(void)
{
	bool gone = false;

	for (int file = 0; file < PFT_FILES; file++) {
		struct stat found = {.st_nlink = 1};

		if (flusher.files.fds[file] >= 0)
			pft_sys_fstat(flusher.files.fds[file], &found);
		gone |= found.st_nlink == 0;
	}
	return gone;
}

// The trace is whole without: an error here is none of the recording's.
static void report(struct pft_totals totals)
{
	if (flusher.watch)
		flusher.report.error = pft_reports_write(flusher.watch, totals, &flusher.files);
}

static void report_at_last(struct pft_totals totals)
{
	flusher.report.error = flusher.report_wanted && !flusher.watch ? -ENOMEM : 0;
	if (!flusher.watch)
		return;
	report(totals);
	if (!flusher.report.error && flusher.say_report)
		flusher.report.error = pft_reports_render(flusher.watch, totals, &flusher.report);
	pft_watch_close(flusher.watch);
	flusher.watch = NULL;
}

static void finish(void)
{
	do_chores(true);
	pft_ring_arm_all();
	pft_round_renew_clocks(flusher.replay);
	drain(true);
	note(pft_replay_close(flusher.replay, &flusher.totals));
	if (files_are_gone())
		flusher.error = -ENOENT;
	flusher.replay = NULL;
	report_at_last(flusher.totals);
	__atomic_store_n(&flusher.finished, 1, __ATOMIC_RELEASE);
}

static void write_rings(void)
{
	pft_round_renew_clocks(flusher.replay);
	drain(true);
}

static void commit_totals(uint32_t leaving)
{
	pft_replay_say_totals(flusher.replay, leaving);
	note(pft_replay_commit(flusher.replay));
}

// Complete as far as it goes.
static void complete_trace(uint32_t leaving)
{
	do_chores(true);
	write_rings();
	commit_totals(leaving);
}

// Whatever closed the window: what was recorded in it is drained, and what is open there ends.
static void keep_window(void)
{
	uint32_t window;

	pft_window_look(pft_clock_ns(CLOCK_MONOTONIC));
	window = pft_session_window(pft_session);
	if (window == flusher.window)
		return;
	if (pft_window_is_closed(window) && pft_session->overflow != PFT_OVERFLOW_OVERWRITE) {
		drain(false);
		pft_replay_pause(flusher.replay);
		note(pft_replay_commit(flusher.replay));
	}
	flusher.window = window;
}

// What another process asked for.
static void obey(void)
{
	struct pft_asked asked = pft_control_asked();

	if (!asked.request)
		return;
	if (asked.command == PFT_COMMAND_START)
		pft_window_open();
	if (asked.command == PFT_COMMAND_STOP)
		pft_window_close();
	keep_window();
	if (asked.command == PFT_COMMAND_FLUSH || asked.command == PFT_COMMAND_DUMP)
		complete_trace(0);
	pft_control_answer(
		&asked, flusher.replay, asked.command < PFT_COMMAND_COUNT ? flusher.error : -ENOSYS);
}

// A call took long: what the rings hold now goes into the trace.
static void obey_trigger(void)
{
	uint32_t index;

	if (!pft_trigger_take(&index))
		return;
	write_rings();
	pft_replay_mark(flusher.replay, index, "trigger");
	commit_totals(0);
}

static void work(void)
{
	unsigned idle_rounds = 0;

	while (!has_order()) {
		pft_round_renew_clocks(flusher.replay);
		do_chores(false);
		keep_window();
		obey();
		obey_trigger();
		idle_rounds = drain(false) ? 0 : idle_rounds + 1;
		idle_rounds = rest(idle_rounds);
	}
}

static void set_word(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	pft_sys_futex(word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

// In the order in which each step is still allowed.
static void follow(void)
{
	if (identity.capabilities[0]) {
		pft_sys2(SYS_capset, identity.capabilities[0], identity.capabilities[1]);
	} else {
		pft_sys2(SYS_setgroups, identity.group_count, identity.groups);
		pft_sys3(SYS_setresgid, identity.group[0], identity.group[1], identity.group[2]);
		pft_sys3(SYS_setresuid, identity.user[0], identity.user[1], identity.user[2]);
	}
	set_word(&flusher.order, ORDER_RUN);
}

static bool move_order(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(
		&flusher.order, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void obey_orders(void)
{
	do {
		work();
		if (order_is(ORDER_FOLLOW))
			follow();
		if (order_is(ORDER_STOP)) {
			complete_trace(flusher.leaving);
			if (flusher.leaving)
				report(pft_replay_totals(flusher.replay));
		}
	} while (!order_is(ORDER_FINISH) && !move_order(ORDER_STOP, ORDER_STOPPED));
}

// No file, and none to come: what was recorded is drained all the same, to be counted.
static void count_lost(void)
{
	struct pft_clocks clocks = {0};

	pft_files_clear(&flusher.files);
	if (flusher.replay)
		pft_replay_reopen(flusher.replay, PFT_OUT_NOWHERE);
	else
		flusher.replay = pft_replay_open(pft_session, PFT_OUT_NOWHERE, clocks);
	if (flusher.replay)
		finish();
}

static void run(void)
{
	int error = open_replay();

	note(error);
	set_word(&flusher.opened, 1);
	if (pft_guest_was_left()) { // and no exec has come about
		pft_session->finished = 0;
		set_word(&flusher.verb, 0);
	}
	if (error) {
		pft_ring_expect_none();
		if (order_is(ORDER_FINISH) && pft_flusher_lost_files(error))
			count_lost();
		return;
	}
	pft_control_attend(true);
	obey_orders();
	pft_control_attend(false);
	if (order_is(ORDER_FINISH))
		finish();
	pft_files_close(&flusher.files);
}

// ---- verbs ------------------------------------------------------------------------------------------

void pft_flusher_prepare(const struct pft_place *place, bool say_report)
{
	pft_segments_start(place);
	flusher.report_wanted = say_report || (place->wanted & PFT_FILES_OF_REPORTS);
	flusher.say_report = say_report;
	pft_trigger_forget();
	flusher.replay = NULL;
	flusher.watch = NULL;
	pft_files_clear(&flusher.handed);
	flusher.verb = 0;
	flusher.stuck = false;
	flusher.order = ORDER_RUN;
	flusher.opened = 0;
	flusher.finished = 0;
	flusher.error = 0;
	flusher.window = 0;
	__atomic_store_n(&pft_session->flusher_asleep, 0, __ATOMIC_RELAXED);
	pft_ring_expect_room();
	pft_guest_prepare(run);
}

bool pft_flusher_is_stuck(void)
{
	return __atomic_load_n(&flusher.stuck, __ATOMIC_RELAXED) &&
	       flusher.stuck_at == __atomic_load_n(&flusher.progress, __ATOMIC_RELAXED);
}

// How long to wait for the thread. Who has met it stuck does not wait again until it goes on.
static uint64_t patience_ns(void)
{
	return pft_flusher_is_stuck() ? 0 : STUCK_NS;
}

static void note_stuck(void)
{
	flusher.stuck_at = __atomic_load_n(&flusher.progress, __ATOMIC_RELAXED);
	__atomic_store_n(&flusher.stuck, true, __ATOMIC_RELAXED);
}

// Sleeps until the word is `value`, or for so long.
static bool await(uint32_t *word, uint32_t value, uint64_t ns)
{
	const struct timespec nap = {0, 10000000};
	uint64_t start_ns = pft_clock_ns(CLOCK_MONOTONIC);
	uint32_t found;

	while ((found = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value) {
		if (pft_clock_ns(CLOCK_MONOTONIC) - start_ns > ns)
			return false;
		pft_sys_futex(word, FUTEX_WAIT_PRIVATE, found, &nap);
	}
	return true;
}

static void await_thread(uint32_t *word, uint32_t value)
{
	if (!await(word, value, patience_ns()))
		note_stuck();
}

static uint32_t myself(void)
{
	return (uint32_t)pft_sys_gettid();
}

static void resume(void);

// One verb at a time. Signals are held meanwhile: a handler that left by siglongjmp would take the verb
// along. What the processor raises is not held, so we may be in a handler that came between; then it is false
// at once. Around exec nothing is held: a verb of this thread is one that it has left, or is about to.
static bool begin_verb(void)
{
	for (;;) {
		uint64_t signals = pft_signals_hold();
		uint32_t holder = 0;
		bool taken = __atomic_compare_exchange_n(
			&flusher.verb, &holder, myself(), false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
		bool left = holder == myself() && pft_guest_is_left();

		if (left)
			resume();
		if (taken || left) {
			flusher.signals = signals;
			return true;
		}
		pft_signals_release(signals);
		if (holder == myself() || !await(&flusher.verb, 0, STUCK_NS))
			return false;
	}
}

static void end_verb(void)
{
	uint64_t signals = flusher.signals;

	set_word(&flusher.verb, 0);
	pft_signals_release(signals);
}

// Waits while the thread makes progress. A file system that hangs must not hang the program.
static bool await_end(void)
{
	uint32_t progress;

	do {
		progress = __atomic_load_n(&flusher.progress, __ATOMIC_RELAXED);
		if (pft_guest_join(patience_ns()))
			return true;
	} while (progress != __atomic_load_n(&flusher.progress, __ATOMIC_RELAXED));
	note_stuck();
	return false;
}

static bool is_carried_out(void)
{
	return order_is(ORDER_STOPPED) || __atomic_load_n(&flusher.finished, __ATOMIC_ACQUIRE);
}

// By the thread, which is started when it does not run: a file system that hangs holds it up and not the
// program. Here, where there can be no thread.
static bool carry_out(enum order order)
{
	__atomic_store_n(&flusher.order, order, __ATOMIC_SEQ_CST);
	if (pft_guest_refuse()) {
		if (is_carried_out()) // it was quick
			return true;
		pft_guest_allow();
		pft_guest_want();
		if (pft_guest_error()) {
			run();
			return true;
		}
	}
	pft_ring_wake_flusher();
	return await_end();
}

// In the caller's table, for the time that the thread is away. All or none.
static void open_for_return(struct pft_files *handed)
{
	pft_files_clear(handed);
	if (pft_segments_open(handed) < 0 || !move_files_away(handed))
		return;
	for (int file = 0; file < PFT_FILES; file++)
		if (handed->fds[file] >= 0)
			pft_sys_fstat(handed->fds[file], &flusher.handed_are[file]);
}

// The thread has its copies, or there is none.
static void take_back_handed(void)
{
	bool copied = pft_guest_is_apart() || pft_guest_error();

	for (int file = 0; copied && file < PFT_FILES; file++)
		if (is_handed(file))
			pft_sys_close(flusher.handed.fds[file]);
	pft_files_clear(&flusher.handed);
}

void pft_flusher_ready(void)
{
	pft_guest_want();
	if (!pft_guest_error())
		await_thread(&flusher.opened, 1);
}

static void give_follow(void)
{
	if (!flusher.opened)
		return;
	set_word(&flusher.order, ORDER_FOLLOW);
	pft_ring_wake_flusher();
	await_thread(&flusher.order, ORDER_RUN);
}

void pft_flusher_follow_identity(void)
{
	if (!begin_verb())
		return;
	pft_sys3(SYS_getresuid, &identity.user[0], &identity.user[1], &identity.user[2]);
	pft_sys3(SYS_getresgid, &identity.group[0], &identity.group[1], &identity.group[2]);
	identity.group_count = pft_sys2(SYS_getgroups, GROUPS_MAX, identity.groups);
	identity.capabilities[0] = NULL;
	give_follow();
	end_verb();
}

void pft_flusher_follow_capabilities(const void *header, const void *data)
{
	if (!begin_verb())
		return;
	identity.capabilities[0] = header;
	identity.capabilities[1] = data;
	give_follow();
	end_verb();
}

bool pft_flusher_stop(bool leaving)
{
	if (!begin_verb())
		return false;
	take_back_handed(); // of a stop that was left
	flusher.leaving = leaving ? myself() : 0;
	if (!carry_out(ORDER_STOP) && move_order(ORDER_STOP, ORDER_RUN)) {
		end_verb();
		return false;
	}
	open_for_return(&flusher.handed);
	return true;
}

void pft_flusher_let_signals_in(void)
{
	uint64_t signals = flusher.signals;

	__atomic_store_n(&flusher.order, ORDER_RUN, __ATOMIC_SEQ_CST);
	pft_guest_keep(flusher.handed.fds, PFT_FILES);
	pft_guest_leave_to(myself());
	pft_ring_arm_all(); // so that this thread's next event asks for the flusher
	pft_signals_release(signals);
}

static void resume(void)
{
	flusher.opened = 0;
	pft_guest_keep(flusher.handed.fds, PFT_FILES);
	__atomic_store_n(&flusher.order, ORDER_RUN, __ATOMIC_SEQ_CST);
	pft_guest_allow();
	pft_guest_want();
	if (!pft_guest_error())
		await_thread(&flusher.opened, 1);
	take_back_handed();
	pft_guest_keep(NULL, 0);
}

void pft_flusher_start(void)
{
	uint64_t signals = pft_signals_hold();

	// A handler that came between may have done it.
	if (__atomic_load_n(&flusher.verb, __ATOMIC_RELAXED) != myself()) {
		pft_signals_release(signals);
		return;
	}
	if (pft_guest_is_left())
		flusher.signals = signals;
	resume();
	end_verb();
}

bool pft_flusher_lost_files(int error)
{
	return error == -ENOENT || error == -ESTALE;
}

int pft_flusher_finish(struct pft_totals *totals, struct pft_said *report)
{
	bool begun = begin_verb();
	bool ended = begun && carry_out(ORDER_FINISH);
	bool drained = ended && __atomic_load_n(&flusher.finished, __ATOMIC_ACQUIRE);

	*totals = flusher.totals;
	*report = drained ? flusher.report : (struct pft_said){0};
	note(drained ? 0 : -ETIMEDOUT);
	set_word(&flusher.finished, 1);
	if (begun)
		pft_signals_release(flusher.signals); // no other verb will follow
	return flusher.error;
}

bool pft_flusher_await_finish(void)
{
	return await(&flusher.finished, 1, STUCK_NS);
}
