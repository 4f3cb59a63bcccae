// SPDX-License-Identifier: MIT
// The flusher, with threads that record, a real session and a real file: what is recorded is in the file,
// whether it runs, sleeps, is stopped or cannot go on.
#define _GNU_SOURCE
#include "shim/flusher.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "shim/hot/clock.h"
#include "shim/hot/self.h"
#include "tests/programs/freezer.h"
#include "tests/unit/recording.h"
#include "tests/unit/unannounced.h"

#define CALLS 20000

#define FLUSHER_TEST(name) Test(flusher, name, .fini = recording_clean, .timeout = 120)

// Where a thread of libc stands in for the guest, so that ThreadSanitizer knows it, its descriptors and
// identity are not those of the bare one.
#ifdef __SANITIZE_THREAD__
#define NEEDS_BARE_GUEST() cr_skip_test("the guest is a thread of libc")
#else
#define NEEDS_BARE_GUEST() (void)0
#endif

static uint32_t work, more;
static struct pft_totals totals;

static void start(void)
{
	recording_make();
	work = recording_hook("work");
	more = recording_hook("more");
	recording_start();
}

static void finish(void)
{
	cr_assert_eq(recording_finish(&totals), 0);
	cr_assert_eq(totals.produced, totals.written + totals.filtered + totals.dropped);
}

static void rest_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

// The thread that came with the recording.
static unsigned tasks(uint32_t *others)
{
	DIR *directory = opendir("/proc/self/task");
	unsigned count = 0;

	for (const struct dirent *entry; (entry = readdir(directory));)
		if (entry->d_name[0] != '.' && (uint32_t)atoi(entry->d_name) != (uint32_t)gettid())
			others[count++] = (uint32_t)atoi(entry->d_name);
	closedir(directory);
	return count;
}

static void *do_nothing(void *unused)
{
	return unused;
}

static uint32_t start_and_find_thread(void)
{
	uint32_t before[16], after[16];
	unsigned count_before, count_after;

	pthread_join(
		unannounced_create(do_nothing, NULL), NULL); // a sanitizer starts a thread with the first
	count_before = tasks(before);
	start();
	recording_call(work);
	cr_assert(recording_await("work", 1));
	count_after = tasks(after);
	for (unsigned i = 0; i < count_after; i++) {
		unsigned j = 0;

		while (j < count_before && before[j] != after[i])
			j++;
		if (j == count_before)
			return after[i];
	}
	cr_assert(false, "there is no new thread");
	return 0;
}

static bool is_there(uint32_t thread)
{
	uint32_t others[16];
	unsigned count = tasks(others);

	while (count && others[count - 1] != thread)
		count--;
	return count;
}

// The kernel lists a thread for a moment after its end.
static bool await_gone(uint32_t thread)
{
	unsigned turns = 100;

	while (is_there(thread) && --turns)
		rest_ms(10);
	return turns;
}

// ---- at work ----------------------------------------------------------------------------------------

FLUSHER_TEST(writes_every_call_though_the_ring_is_small)
{
	unsigned waits;

	start();
	recording_calls(work, CALLS);
	finish();
	waits = (unsigned)totals.written / 2 - CALLS;
	cr_assert_eq(totals.dropped, 0);
	cr_assert_eq(recording_slices("work"), CALLS);
	cr_assert_eq(recording_ends(), CALLS + waits);
}

static void *work_in_thread(void *unused)
{
	recording_calls(work, CALLS / 4);
	return unused;
}

FLUSHER_TEST(writes_every_call_of_every_thread)
{
	pthread_t threads[4];

	start();
	for (int i = 0; i < 4; i++)
		threads[i] = recording_thread(work_in_thread, NULL);
	recording_calls(more, CALLS / 4);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	finish();
	cr_assert_eq(totals.dropped, 0);
	cr_assert_eq(recording_slices("work"), CALLS);
	cr_assert_eq(recording_slices("more"), CALLS / 4);
}

FLUSHER_TEST(writes_by_itself)
{
	start();
	recording_calls(work, 10);
	cr_assert(recording_await("work", 10));
	recording_calls(work, 5);
	cr_assert(recording_await("work", 15));
}

// Each is a slice of its own: two slots.
static unsigned waits_after(unsigned calls)
{
	return pft_head_position(pft_self->head) / sizeof(struct pft_record) / 2 - calls;
}

// Who waits looks again every 100 ms all the same. How often that is depends on who is faster.
FLUSHER_TEST(wakes_a_thread_that_waits_for_room)
{
	uint64_t start_ns, ms;
	unsigned calls = 0;

	start();
	start_ns = pft_clock_ns(CLOCK_MONOTONIC);
	for (; calls < 100 * CALLS && waits_after(calls) < 40; calls += CALLS)
		recording_calls(work, CALLS);
	ms = (pft_clock_ns(CLOCK_MONOTONIC) - start_ns) / 1000000;
	cr_assert_leq(ms, 500 + 50 * waits_after(calls), "%lu ms for %u waits", ms, waits_after(calls));
}

FLUSHER_TEST(counts_what_is_dropped)
{
	recording_settings.overflow = PFT_OVERFLOW_DROP;
	start();
	cr_assert(pft_flusher_stop(false));
	recording_calls(work, CALLS);
	pft_flusher_start();
	finish();
	cr_assert_eq(totals.produced, 2 * CALLS);
	cr_assert_gt(totals.dropped, 2 * CALLS - 2 * recording_settings.buffer_bytes / 16);
	cr_assert_eq(recording_slices("work"), totals.written / 2);
}

FLUSHER_TEST(keeps_the_newest_in_the_ring_when_the_oldest_are_overwritten)
{
	recording_settings.overflow = PFT_OVERFLOW_OVERWRITE;
	start();
	recording_calls(work, CALLS);
	rest_ms(400);
	cr_assert_eq(recording_slices("work"), 0, "nothing is written before the end");
	recording_calls(more, 10);
	finish();
	cr_assert_eq(totals.produced, 2 * (CALLS + 10));
	cr_assert_eq(recording_slices("more"), 10);
	cr_assert_gt(recording_slices("work"), 100);
	cr_assert_lt(recording_slices("work"), recording_settings.buffer_bytes / 32);
}

// ---- asked ------------------------------------------------------------------------------------------

static bool is_answered(void)
{
	return __atomic_load_n(&pft_session->control.answered, __ATOMIC_ACQUIRE) ==
	       pft_session->control.request;
}

static void ask(uint32_t command)
{
	uint32_t *word = &pft_session->flusher_asleep;

	pft_session->control.command = command;
	__atomic_add_fetch(&pft_session->control.request, 1, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	for (unsigned turn = 0; !is_answered(); turn++) {
		cr_assert_lt(turn, 1000, "no answer");
		rest_ms(10);
	}
}

FLUSHER_TEST(has_everything_in_the_file_when_it_answers_a_flush)
{
	recording_settings.overflow = PFT_OVERFLOW_OVERWRITE;
	start();
	recording_calls(work, 10);
	ask(PFT_COMMAND_FLUSH);
	cr_assert_eq(recording_slices("work"), 10);
	cr_assert_eq(pft_session->control.written, 20);
	cr_assert_eq(pft_session->control.result, 0);
}

FLUSHER_TEST(counts_what_is_overwritten_as_it_goes)
{
	const uint64_t least = 2 * CALLS - recording_settings.buffer_bytes / 16;

	recording_settings.overflow = PFT_OVERFLOW_OVERWRITE;
	start();
	recording_calls(work, CALLS);
	ask(PFT_COMMAND_STATUS);
	for (unsigned turn = 0; turn < 1000 && pft_session->control.dropped < least; turn++)
		ask(PFT_COMMAND_STATUS);
	cr_assert_geq(pft_session->control.dropped, least);
	cr_assert_eq(recording_slices("work"), 0);
	finish();
	cr_assert_eq(totals.produced, 2 * CALLS);
}

FLUSHER_TEST(refuses_a_command_that_it_does_not_know)
{
	start();
	recording_call(work);
	ask(PFT_COMMAND_COUNT);
	cr_assert_eq(pft_session->control.result, -ENOSYS);
}

FLUSHER_TEST(answers_after_a_long_sleep)
{
	start();
	recording_call(work);
	rest_ms(500);
	ask(PFT_COMMAND_STATUS);
	cr_assert_eq(pft_session->control.produced, 2);
}

// ---- asleep -----------------------------------------------------------------------------------------

FLUSHER_TEST(wakes_up_for_the_first_event_after_a_pause)
{
	start();
	for (unsigned i = 1; i <= 3; i++) {
		recording_call(work);
		cr_assert(recording_await("work", i), "event %u does not come", i);
		rest_ms(400);
	}
}

static unsigned long switches_of(uint32_t tid)
{
	char path[64], line[256];
	unsigned long switches = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	file = fopen(path, "r");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file))
		sscanf(line, "voluntary_ctxt_switches: %lu", &switches);
	fclose(file);
	return switches;
}

FLUSHER_TEST(does_not_wake_up_while_nothing_happens)
{
	uint32_t thread = start_and_find_thread();
	unsigned long before;

	rest_ms(1000);
	before = switches_of(thread);
	rest_ms(1000);
	cr_assert_eq(switches_of(thread), before);
}

// ---- threads ----------------------------------------------------------------------------------------

static bool is_free(uint32_t index)
{
	return __atomic_load_n(&pft_session_thread(pft_session, index)->state, __ATOMIC_ACQUIRE) ==
	       PFT_THREAD_FREE;
}

static bool await_free(uint32_t index)
{
	unsigned turns = 1000;

	while (!is_free(index) && --turns)
		rest_ms(10);
	return turns;
}

static void *call_once(void *name)
{
	prctl(PR_SET_NAME, name);
	recording_call(work);
	return NULL;
}

FLUSHER_TEST(frees_the_seat_of_a_thread_that_has_ended)
{
	pthread_t thread;

	start();
	for (unsigned i = 1; i <= 3; i++) {
		thread = recording_thread(call_once, "short");
		pthread_join(thread, NULL);
		cr_assert(await_free(1));
		cr_assert_eq(recording_slices("work"), i, "what it did is in the file");
	}
	cr_assert_eq(pft_session_thread(pft_session, 2)->serial, 0, "they sat on the same seat");
	cr_assert_geq(recording_threads("short"), 3);
}

// Nothing tells of the end of a thread that our pthread_create has not made.
FLUSHER_TEST(finds_a_thread_that_has_ended_unsaid)
{
	start();
	pthread_join(unannounced_create(call_once, "unsaid"), NULL);
	for (unsigned turn = 0; turn < 1000 && !is_free(1); turn++) {
		recording_call(more); // it looks around while there is work
		rest_ms(10);
	}
	cr_assert(is_free(1));
	finish();
	cr_assert_eq(recording_slices("work"), 1);
	cr_assert_eq(recording_threads("unsaid"), 1);
}

FLUSHER_TEST(drains_an_ended_thread_also_when_the_oldest_are_overwritten)
{
	pthread_t thread;

	recording_settings.overflow = PFT_OVERFLOW_OVERWRITE;
	start();
	thread = recording_thread(call_once, "short");
	pthread_join(thread, NULL);
	cr_assert(recording_await("work", 1));
	cr_assert(await_free(1));
}

FLUSHER_TEST(tells_the_name_that_a_thread_has_at_the_end)
{
	start();
	recording_call(work);
	prctl(PR_SET_NAME, "another name");
	finish();
	cr_assert_eq(recording_threads("another name"), 1);
}

FLUSHER_TEST(tells_a_name_once)
{
	prctl(PR_SET_NAME, "one name");
	start();
	recording_call(work);
	for (unsigned turn = 0; turn < 3; turn++) { // the names are looked at before each stop
		cr_assert(pft_flusher_stop(false));
		pft_flusher_start();
	}
	finish();
	cr_assert_eq(recording_threads("one name"), 1);
}

FLUSHER_TEST(passes_over_a_seat_that_is_just_being_made)
{
	pthread_t thread;

	start();
	pft_session_thread(pft_session, 1)->state = PFT_THREAD_TAKEN;
	thread = recording_thread(call_once, "behind it");
	pthread_join(thread, NULL);
	cr_assert(recording_await("work", 1));
	finish();
}

// ---- stop and start ---------------------------------------------------------------------------------

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

FLUSHER_TEST(stops_with_everything_in_the_file_and_goes_on)
{
	uint32_t thread = start_and_find_thread();

	recording_calls(work, 99);
	cr_assert(pft_flusher_stop(false));
	cr_assert_eq(recording_slices("work"), 100);
	cr_assert(await_gone(thread));
	recording_calls(more, 10);
	pft_flusher_start();
	recording_calls(more, 10);
	cr_assert(recording_await("more", 20));
	finish();
	cr_assert_eq(recording_slices("work"), 100);
	cr_assert_eq(totals.written, 2 * 120);
}

FLUSHER_TEST(stops_before_it_ever_ran)
{
	start();
	cr_assert(pft_flusher_stop(false));
	pft_flusher_start();
	recording_calls(work, 10);
	finish();
	cr_assert_eq(recording_slices("work"), 10);
}

FLUSHER_TEST(stops_though_it_sleeps)
{
	start();
	recording_call(work);
	rest_ms(500);
	cr_assert(pft_flusher_stop(false));
	pft_flusher_start();
	rest_ms(500);
	finish();
}

// The program may have given up what it takes to open the file.
FLUSHER_TEST(goes_on_with_its_file_and_leaves_no_descriptor)
{
	char away[PFT_PATH_MAX + 8];
	unsigned before;

	NEEDS_BARE_GUEST();
	start();
	snprintf(away, sizeof(away), "%s.away", recording_place.paths[PFT_FILE_TRACE]);
	before = open_descriptors();
	recording_calls(work, 10);
	cr_assert(pft_flusher_stop(false));
	cr_assert_eq(rename(recording_place.paths[PFT_FILE_TRACE], away), 0);
	pft_flusher_start();
	recording_calls(work, 10);
	finish();
	cr_assert_eq(open_descriptors(), before);
	cr_assert_eq(rename(away, recording_place.paths[PFT_FILE_TRACE]), 0);
	cr_assert_eq(recording_slices("work"), 20);
}

FLUSHER_TEST(has_its_file_when_it_says_that_it_is_ready)
{
	char away[PFT_PATH_MAX + 8];

	start();
	snprintf(away, sizeof(away), "%s.away", recording_place.paths[PFT_FILE_TRACE]);
	pft_flusher_ready();
	cr_assert_eq(rename(recording_place.paths[PFT_FILE_TRACE], away), 0);
	recording_calls(work, 10);
	finish();
	cr_assert_eq(rename(away, recording_place.paths[PFT_FILE_TRACE]), 0);
	cr_assert_eq(recording_slices("work"), 10);
}

// In another thread, while the flusher is away: the numbers are those of the program's files by then.
FLUSHER_TEST(leaves_files_alone_that_have_come_under_its_numbers)
{
	FILE *other = tmpfile();
	unsigned replaced = 0;
	struct stat found;

	NEEDS_BARE_GUEST();
	start();
	recording_calls(work, 10);
	cr_assert(pft_flusher_stop(false));
	for (int fd = 700; fd < 720; fd++)
		replaced += fcntl(fd, F_GETFD) >= 0 && dup2(fileno(other), fd) == fd;
	cr_assert_eq(replaced, 1);
	pft_flusher_start();
	recording_calls(work, 10);
	finish();
	cr_assert_eq(recording_slices("work"), 20);
	cr_assert_eq(fstat(fileno(other), &found), 0);
	cr_assert_eq(found.st_size, 0);
	cr_assert_geq(fcntl(700, F_GETFD), 0, "it is not closed either");
}

static bool holds_signals(void)
{
	sigset_t held;

	sigprocmask(SIG_BLOCK, NULL, &held);
	return sigismember(&held, SIGUSR1);
}

// What a handler that leaves by siglongjmp must not do halfway.
FLUSHER_TEST(holds_signals_while_it_is_stopped)
{
	start();
	cr_assert(pft_flusher_stop(false));
	cr_assert(holds_signals());
	pft_flusher_start();
	cr_assert_not(holds_signals());
	finish();
	cr_assert_not(holds_signals());
}

// As a handler does that leaves exec by siglongjmp.
static void stop_and_never_start(void)
{
	start();
	recording_call(work);
	cr_assert(pft_flusher_stop(true));
	pft_flusher_let_signals_in();
	cr_assert_not(holds_signals());
}

FLUSHER_TEST(that_was_left_stopped_starts_with_the_next_event_of_the_thread)
{
	unsigned before = open_descriptors();

	stop_and_never_start();
	pft_session->finished = 1; // exec says so
	recording_call(work);
	cr_assert(recording_await("work", 2));
	cr_assert_eq(pft_session->finished, 0);
	cr_assert(pft_flusher_stop(false), "the verb is free again");
	pft_flusher_start();
	cr_assert_eq(open_descriptors(), before);
	recording_call(work);
	finish();
	cr_assert_eq(recording_slices("work"), 3);
}

FLUSHER_TEST(that_was_left_stopped_starts_with_the_next_verb_of_the_thread)
{
	unsigned before = open_descriptors();

	stop_and_never_start();
	cr_assert(pft_flusher_stop(false));
	pft_flusher_start();
	pft_flusher_start(); // exec comes back after all
	cr_assert_eq(open_descriptors(), before);
	recording_call(work);
	finish();
	cr_assert_eq(recording_slices("work"), 2);
}

static void *do_call(void *unused)
{
	recording_call(work);
	return unused;
}

FLUSHER_TEST(that_is_stopped_for_exec_is_not_started_by_others)
{
	start();
	recording_call(work);
	cr_assert(pft_flusher_stop(true));
	pft_flusher_let_signals_in();
	pthread_join(recording_thread(do_call, NULL), NULL);
	rest_ms(300);
	cr_assert_eq(recording_slices("work"), 1);
	pft_flusher_start();
	finish();
	cr_assert_eq(recording_slices("work"), 2);
}

FLUSHER_TEST(that_could_not_be_stopped_goes_on_when_it_can)
{
	struct freezer freezer;

	NEEDS_BARE_GUEST();
	start();
	recording_call(work);
	cr_assert(recording_await("work", 1));
	freezer = freezer_start(0);
	cr_assert_not(pft_flusher_stop(false));
	freezer_stop(freezer);
	recording_call(work);
	cr_assert(recording_await("work", 2));
	finish();
}

static void *stop_and_start(void *unused)
{
	for (unsigned i = 0; i < 20; i++)
		if (pft_flusher_stop(false)) {
			recording_call(work);
			pft_flusher_start();
		}
	return unused;
}

FLUSHER_TEST(is_stopped_by_one_thread_at_a_time)
{
	pthread_t threads[3];

	start();
	for (int i = 0; i < 3; i++)
		threads[i] = recording_thread(stop_and_start, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	finish();
	cr_assert_eq(recording_slices("work"), 60);
}

// The lines of a thread's status that say who it is.
static const char *identity_of(uint32_t tid)
{
	static char identities[2][1024];
	static unsigned turn;
	char path[64], line[256], *identity = identities[turn++ % 2];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", tid);
	file = fopen(path, "r");
	cr_assert_not_null(file);
	identity[0] = '\0';
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "Uid:", 4) || !strncmp(line, "Gid:", 4) || !strncmp(line, "Groups:", 7) ||
			!strncmp(line, "Cap", 3))
			strcat(identity, line);
	fclose(file);
	return identity;
}

static void check_same(uint32_t thread)
{
	const char *ours = identity_of((uint32_t)gettid());

	cr_assert_str_eq(identity_of(thread), ours);
}

FLUSHER_TEST(becomes_who_the_program_becomes)
{
	const gid_t groups[] = {65533, 65534};
	uint32_t thread;

	NEEDS_BARE_GUEST();
	if (geteuid() != 0)
		cr_skip_test("changing identity needs privileges");
	thread = start_and_find_thread();
	cr_assert_eq(setgroups(2, groups), 0);
	check_same(thread);
	cr_assert_eq(setresgid(65532, 65533, 65534), 0);
	check_same(thread);
	cr_assert_eq(setresuid(65533, 65534, 0), 0);
	check_same(thread);
	recording_calls(more, 10);
	cr_assert_eq(setresuid(0, 0, 0), 0);
	check_same(thread);
	finish();
	cr_assert_eq(recording_slices("more"), 10);
}

// ---- the end ----------------------------------------------------------------------------------------

FLUSHER_TEST(leaves_a_trace_without_events_when_there_were_none)
{
	start();
	finish();
	cr_assert_eq(totals.produced, 0);
	cr_assert_eq(recording_slices("work"), 0);
}

static void *await_finish(void *answer)
{
	*(bool *)answer = pft_flusher_await_finish();
	return NULL;
}

FLUSHER_TEST(lets_others_wait_for_its_last_drain)
{
	pthread_t thread;
	bool answer = false;

	start();
	recording_calls(work, 1000);
	thread = recording_thread(await_finish, &answer);
	finish();
	pthread_join(thread, NULL);
	cr_assert(answer);
	cr_assert(pft_flusher_await_finish(), "later as well");
}

FLUSHER_TEST(says_that_the_file_is_gone)
{
	start();
	cr_assert_eq(unlink(recording_place.paths[PFT_FILE_TRACE]), 0);
	recording_calls(work, 10);
	cr_assert_eq(recording_finish(&totals), -ENOENT);
}

FLUSHER_TEST(says_that_the_file_may_not_grow)
{
	const struct rlimit small = {8192, 8192};
	struct stat found;

	start();
	setrlimit(RLIMIT_FSIZE, &small);
	recording_calls(work, CALLS);
	cr_assert_eq(recording_finish(&totals), -EFBIG);
	cr_assert_eq(totals.produced, totals.written + totals.dropped);
	cr_assert_eq(stat(recording_place.paths[PFT_FILE_TRACE], &found), 0);
	cr_assert_leq(found.st_size, 8192);
	cr_assert_eq(recording_slices("work") + recording_ends(), totals.written, "what is there is whole");
}

// More than one write a round, and the file system has room for some of them.
FLUSHER_TEST(counts_what_came_into_the_file_before_it_might_not_grow)
{
	const struct rlimit small = {200000, 200000};

	recording_settings.buffer_bytes = 1 << 20;
	start();
	cr_assert(pft_flusher_stop(false));
	setrlimit(RLIMIT_FSIZE, &small);
	recording_calls(work, CALLS);
	pft_flusher_start();
	cr_assert_eq(recording_finish(&totals), -EFBIG);
	cr_assert_eq(totals.produced, totals.written + totals.dropped);
	cr_assert_geq(totals.written, 5000);
	cr_assert_eq(recording_slices("work") + recording_ends(), totals.written);
}

FLUSHER_TEST(writes_into_no_pipe_that_stands_where_the_file_was)
{
	start();
	cr_assert_eq(unlink(recording_place.paths[PFT_FILE_TRACE]), 0);
	cr_assert_eq(mkfifo(recording_place.paths[PFT_FILE_TRACE], 0600), 0);
	recording_call(work);
	cr_assert_eq(recording_finish(&totals), -ESTALE);
}

FLUSHER_TEST(does_not_hold_up_the_end_when_it_hangs)
{
	struct freezer freezer;
	uint64_t start_ns;

	NEEDS_BARE_GUEST();
	start();
	recording_call(work);
	cr_assert(recording_await("work", 1));
	freezer = freezer_start(0);
	start_ns = pft_clock_ns(CLOCK_MONOTONIC);
	cr_assert_eq(recording_finish(&totals), -ETIMEDOUT);
	cr_assert(pft_flusher_await_finish(), "nobody else needs to wait for it either");
	cr_assert_lt(pft_clock_ns(CLOCK_MONOTONIC) - start_ns, UINT64_C(20000000000));
	freezer_stop(freezer);
}
