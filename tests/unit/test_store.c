// SPDX-License-Identifier: MIT
// Where the session lives: in shared memory when that can be, and what stands there besides.
#define _GNU_SOURCE
#include "shim/store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/flusher.h"
#include "shim/hot/self.h"
#include "tests/unit/captured.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/recording.h"

// {number} of this process.
static const char *shared_path(unsigned number)
{
	static char paths[2][64];

	snprintf(paths[number % 2], sizeof(paths[0]), "/dev/shm/pftshim.%d.%u", getpid(), number);
	return paths[number % 2];
}

// A process of this number that was killed may have left some.
static void forget_others(void)
{
	for (unsigned number = 0; number < 4; number++)
		unlink(shared_path(number));
}

TestSuite(store, .init = forget_others, .fini = recording_clean);

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static const char *target_of_link(void)
{
	static char target[PFT_PATH_MAX];
	ssize_t size = readlink(recording_place.session_link, target, sizeof(target) - 1);

	target[size > 0 ? size : 0] = '\0';
	return target;
}

static struct stat about(const char *path)
{
	struct stat found = {0};

	cr_assert_eq(lstat(path, &found), 0, "%s", path);
	return found;
}

// ---- the file ---------------------------------------------------------------------------------------

Test(store, is_a_private_file_in_shared_memory)
{
	struct stat found;

	recording_make();
	found = about(shared_path(0));
	cr_assert_eq(found.st_mode, S_IFREG | 0600);
	cr_assert_eq((uint64_t)found.st_size, pft_session->bytes);
	cr_assert_str_eq(target_of_link(), shared_path(0), "a link beside the trace leads to it");
}

Test(store, costs_what_is_in_use_only)
{
	recording_make();
	cr_assert_geq(pft_session->bytes, 64u << 20);
	cr_assert_leq(about(shared_path(0)).st_blocks * 512, 256 << 10);
}

Test(store, takes_another_number_when_one_is_taken)
{
	close(open(shared_path(0), O_CREAT | O_WRONLY, 0600));
	recording_make();
	cr_assert_eq(about(shared_path(0)).st_size, 0, "that is not ours");
	cr_assert_str_eq(target_of_link(), shared_path(1));
	unlink(shared_path(0));
}

Test(store, follows_no_link_that_somebody_put_there)
{
	cr_assert_eq(symlink("/tmp/pft-elsewhere", shared_path(0)), 0);
	recording_make();
	cr_assert_not(exists("/tmp/pft-elsewhere"));
	cr_assert_str_eq(target_of_link(), shared_path(1));
	unlink(shared_path(0));
}

Test(store, is_the_programs_memory_as_well)
{
	struct pft_session header;
	int fd;

	recording_make();
	pft_session->unseated = 4711;
	fd = open(recording_place.session_link, O_RDONLY);
	cr_assert_eq(read(fd, &header, sizeof(header)), (ssize_t)sizeof(header));
	close(fd);
	cr_assert_eq(header.unseated, 4711);
}

Test(store, goes_when_the_trace_holds_everything)
{
	recording_make();
	pft_store_remove(&recording_place);
	cr_assert_not(exists(shared_path(0)));
	cr_assert_eq(readlink(recording_place.session_link, (char[8]){0}, 8), -1);
	pft_session->unseated = 1; // the memory stays
}

// ---- what it says -----------------------------------------------------------------------------------

Test(store, says_whose_it_is_and_how_it_is_recorded)
{
	recording_settings.mode = PFT_MODE_DEV;
	recording_settings.overflow = PFT_OVERFLOW_DROP;
	recording_settings.clock = PFT_CLOCK_MONOTONIC;
	recording_settings.functions = "open*,-close";
	recording_settings.min_duration_ns = 123;
	recording_settings.max_depth = 45;
	recording_make();
	cr_assert_eq(pft_session->magic, PFT_SESSION_MAGIC);
	cr_assert_eq(pft_session->version, PFT_SESSION_VERSION);
	cr_assert_eq(pft_session->pid, (uint32_t)getpid());
	cr_assert_eq(pft_session->parent_pid, (uint32_t)getppid());
	cr_assert_eq(pft_session->mode, PFT_MODE_DEV);
	cr_assert_eq(pft_session->overflow, PFT_OVERFLOW_DROP);
	cr_assert_eq(pft_session->clock, PFT_CLOCK_MONOTONIC);
	cr_assert_eq(pft_session->min_duration_ns, 123);
	cr_assert_eq(pft_session->max_depth, 45);
	cr_assert_eq(pft_session->ring_bytes, recording_settings.buffer_bytes);
	cr_assert_str_eq(pft_session->process, "program");
	cr_assert_str_eq(pft_session->trace_path, recording_place.paths[PFT_FILE_TRACE]);
	cr_assert_str_eq(pft_session->selectors, "open*,-close");
	cr_assert_eq(pft_session->selectors_bytes, strlen("open*,-close"));
	cr_assert_eq(pft_session->finished, 0);
}

Test(store, says_with_what_arguments_the_program_was_started)
{
	char found[4096] = "";
	FILE *file = fopen("/proc/self/cmdline", "r");
	size_t bytes = fread(found, 1, sizeof(found) - 1, file);

	fclose(file);
	recording_make();
	cr_assert_eq(pft_session->cmdline_bytes, bytes);
	cr_assert_eq(memcmp(pft_session->cmdline, found, bytes), 0);
}

Test(store, begins_empty_with_a_whole_commit)
{
	recording_make();
	cr_assert_eq(pft_session->hooks, PFT_HOOK_FIRST);
	cr_assert_str_eq(pft_session_string(pft_session, 0), "");
	cr_assert_eq(pft_session->strings_used, 1);
	cr_assert_eq(pft_session_commit(pft_session, pft_session->generation)->trace_bytes, 0);
	cr_assert_gt(pft_session->boot_ns, 0);
	cr_assert_gt(pft_session->start_ticks, 0);
}

// The parts lie one behind the other, each on pages of its own.
Test(store, keeps_its_parts_apart)
{
	const struct pft_session *s;
	uint64_t threads;

	recording_make();
	s = pft_session;
	threads = s->threads_max;
	cr_assert_geq(s->hooks_at, sizeof(*s));
	cr_assert_geq(s->strings_at, s->hooks_at + PFT_HOOKS_MAX * sizeof(struct pft_session_hook));
	cr_assert_geq(s->threads_at, s->strings_at + s->strings_bytes);
	cr_assert_geq(s->commit_at[0], s->threads_at + threads * sizeof(struct pft_session_thread));
	cr_assert_geq(
		s->commit_bytes, sizeof(struct pft_commit) + threads * sizeof(struct pft_commit_thread));
	cr_assert_geq(s->commit_at[1], s->commit_at[0] + s->commit_bytes);
	cr_assert_geq(s->rings_at, s->commit_at[1] + s->commit_bytes);
	cr_assert_eq(s->bytes, s->rings_at + threads * s->ring_bytes);
	cr_assert_eq((s->hooks_at | s->strings_at | s->threads_at | s->commit_at[0] | s->commit_at[1] |
			     s->rings_at) %
			     4096,
		0);
}

// ---- where shared memory is not to be had -----------------------------------------------------------

// Over /dev/shm, for this process alone.
static void mount_shared_memory(const char *options, unsigned long flags)
{
	if (unshare(CLONE_NEWNS) < 0)
		cr_skip_test("mounting needs privileges");
	cr_assert_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	cr_assert_eq(mount("tmpfs", "/dev/shm", "tmpfs", flags, options), 0);
}

Test(store, is_a_file_beside_the_trace_where_there_is_no_shared_memory)
{
	mount_shared_memory("", MS_RDONLY);
	recording_make();
	cr_assert_eq(about(recording_place.session_link).st_mode, S_IFREG | 0600);
	cr_assert_eq((uint64_t)about(recording_place.session_link).st_size, pft_session->bytes);
	pft_store_remove(&recording_place);
	cr_assert_not(exists(recording_place.session_link));
}

Test(store, is_a_file_beside_the_trace_where_shared_memory_is_full)
{
	mount_shared_memory("size=4k", 0);
	recording_make();
	cr_assert_not(exists(shared_path(0)));
	cr_assert_eq(about(recording_place.session_link).st_mode, S_IFREG | 0600);
}

// A store into a page that the file system cannot give raises SIGBUS.
Test(store, that_fills_up_later_refuses_threads_and_raises_no_signal)
{
	recording_settings.buffer_bytes = 1 << 20;
	mount_shared_memory("size=1536k", 0);
	recording_make();
	cr_assert(exists(shared_path(0)));
	cr_assert_not_null(pft_self_take(1 << 20));
	cr_assert_null(pft_self_take(1 << 20));
}

Test(store, is_a_file_beside_the_trace_where_shared_memory_has_no_room_for_a_thread)
{
	recording_settings.buffer_bytes = 1 << 20;
	mount_shared_memory("size=512k", 0);
	recording_make();
	cr_assert_not(exists(shared_path(0)));
	cr_assert_eq(about(recording_place.session_link).st_mode, S_IFREG | 0600);
	cr_assert_not_null(pft_self_take(1 << 20));
}

static const char *line_of_private_session(void)
{
	const char *line;

	captured_start();
	recording_make();
	line = captured_stop();
	cr_assert_not(exists(shared_path(0)));
	cr_assert_not(exists(recording_place.session_link));
	return line;
}

Test(store, is_private_memory_where_there_can_be_no_file_and_says_so)
{
	struct rlimit small = {1 << 20, RLIM_INFINITY};

	setrlimit(RLIMIT_FSIZE, &small);
	cr_assert_not_null(strstr(line_of_private_session(), "private memory"));
	pft_session->unseated = 1;
	cr_assert_not_null(pft_self_take(1 << 20));
}

static uint64_t address_space_in_use(void)
{
	uint64_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	cr_assert_eq(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * 4096;
}

Test(store, serves_fewer_threads_where_address_space_is_limited)
{
	struct rlimit limit = {UINT64_C(1) << 30, RLIM_INFINITY};

	if (address_space_in_use() > limit.rlim_cur / 4)
		cr_skip_test("a sanitizer has taken more than that");
	setrlimit(RLIMIT_AS, &limit);
	recording_make();
	cr_assert_geq(pft_session->threads_max, 4);
	cr_assert_lt(pft_session->threads_max, 4096);
	cr_assert_leq(pft_session->bytes, limit.rlim_cur / 8, "most is left to the program");
}

// ---- other sessions ---------------------------------------------------------------------------------

// As a session of `pid` would stand there.
static void put_session(unsigned number, uint32_t pid, uint64_t finished, uint64_t magic)
{
	struct pft_session header = {
		.magic = magic, .version = PFT_SESSION_VERSION, .pid = pid, .finished = finished};
	int fd = open(shared_path(number), O_CREAT | O_EXCL | O_WRONLY, 0600);

	cr_assert_geq(fd, 0);
	strcpy(header.trace_path, "/tmp/pft-nowhere/executions/before/program.pftrace");
	cr_assert_eq(write(fd, &header, sizeof(header)), (ssize_t)sizeof(header));
	close(fd);
}

Test(store, removes_what_this_process_left_finished_before_exec)
{
	put_session(0, (uint32_t)getpid(), 1, PFT_SESSION_MAGIC);
	recording_make();
	cr_assert_gt(about(shared_path(0)).st_size, (off_t)sizeof(struct pft_session), "the new one");
}

static void check_stays(uint32_t pid, uint64_t finished, uint64_t magic)
{
	put_session(0, pid, finished, magic);
	recording_make();
	cr_assert_eq(about(shared_path(0)).st_size, sizeof(struct pft_session));
	cr_assert_str_eq(target_of_link(), shared_path(1));
	unlink(shared_path(0));
}

Test(store, keeps_what_a_killed_process_of_this_number_left)
{
	check_stays((uint32_t)getpid(), 0, PFT_SESSION_MAGIC);
}

Test(store, keeps_the_session_of_a_process_of_another_namespace)
{
	check_stays((uint32_t)getpid() + 1, 1, PFT_SESSION_MAGIC);
}

Test(store, keeps_what_is_no_session)
{
	check_stays((uint32_t)getpid(), 1, PFT_SESSION_MAGIC + 1);
}

Test(store, is_not_held_up_by_a_pipe_in_its_place, .timeout = 10)
{
	cr_assert_eq(mkfifo(shared_path(0), 0600), 0);
	recording_make();
	unlink(shared_path(0));
}

static void in_child(void (*check)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		check();
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
}

static void must(bool condition)
{
	if (!condition)
		_exit(1);
}

// ---- fork and exec ----------------------------------------------------------------------------------

static struct pft_place parents_place;
static uint32_t hook;

static void make_again(void)
{
	struct pft_session *at = pft_session;

	parents_place = recording_place;
	must(pft_place_make(&recording_place, recording_settings.directory, parents_place.execution, NULL,
		     "program") == 0);
	must(pft_store_make_again(&recording_settings, &recording_place, "child") == 0);
	must(pft_session == at);
}

static void have_a_session_with_the_same_hooks(void)
{
	uint32_t hooks = pft_session->hooks;

	make_again();
	must(pft_session->pid == (uint32_t)getpid() && pft_session->parent_pid == (uint32_t)getppid());
	must(strcmp(pft_session->process, "child") == 0);
	must(strcmp(pft_session->trace_path, recording_place.paths[PFT_FILE_TRACE]) == 0);
	must(pft_session->hooks == hooks && pft_session->unseated == 0);
	must(strcmp(pft_session_string(pft_session, pft_session_hook(pft_session, hook)->symbol),
		     "function") == 0);
	must(strcmp(target_of_link(), shared_path(0)) == 0);
	pft_session->unseated = 2;
	pft_session_hook(pft_session, hook)->symbol = 0;
	pft_store_remove(&recording_place);
	must(!exists(shared_path(0)) && exists(parents_place.session_link));
}

Test(store, of_a_child_is_a_new_one_at_the_same_place)
{
	recording_make();
	hook = recording_hook("function");
	pft_session->unseated = 1;
	in_child(have_a_session_with_the_same_hooks);
	cr_assert_eq(pft_session->unseated, 1);
	cr_assert_neq(pft_session_hook(pft_session, hook)->symbol, 0);
	cr_assert(exists(shared_path(0)));
}

static void *call_hook(void *unused)
{
	recording_calls(hook, 10);
	return unused;
}

static bool make_again_here(void)
{
	make_again();
	pft_flusher_prepare(&recording_place, false);
	return true;
}

// A page of the new session that was not reserved would not be accessible.
static void record_on_the_parents_seats(void)
{
	struct pft_totals totals;
	struct pft_said report;

	recording_calls(hook, 10);
	pthread_join(recording_thread(call_hook, NULL), NULL);
	must(pft_recording_stop() && pft_flusher_finish(&totals, &report) == 0);
	must(totals.written == 2 * 20 && recording_slices("function") == 20);
	pft_store_remove(&recording_place);
}

Test(store, of_a_child_serves_the_seats_that_threads_of_the_parent_had)
{
	recording_make();
	hook = recording_hook("function");
	recording_start();
	pft_forked = make_again_here;
	pthread_join(recording_thread(call_hook, NULL), NULL);
	in_child(record_on_the_parents_seats);
	recording_calls(hook, 10);
	cr_assert(recording_await("function", 20), "the parent goes on");
}

static void lose_touch_with_the_parent(void)
{
	pft_store_abandon();
	pft_session->unseated = 2;
	must(pft_session_hook(pft_session, hook)->symbol == 0);
}

Test(store, of_a_child_that_cannot_have_one_is_out_of_reach)
{
	recording_make();
	hook = recording_hook("function");
	pft_session->unseated = 1;
	in_child(lose_touch_with_the_parent);
	cr_assert_eq(pft_session->unseated, 1);
}

// The layout must be the same, and here it cannot be.
static void fail_to_make_another(void)
{
	bool killed_before = exists(shared_path(0)); // somebody of this number

	recording_settings.buffer_bytes *= 2;
	must(pft_store_make_again(&recording_settings, &recording_place, "child") < 0);
	must(exists(shared_path(0)) == killed_before && !exists(shared_path(1)));
	pft_session->unseated = 2;
}

Test(store, of_a_child_that_fails_leaves_the_parents_alone)
{
	recording_make();
	pft_session->unseated = 1;
	in_child(fail_to_make_another);
	cr_assert_eq(pft_session->unseated, 1);
	cr_assert(exists(shared_path(0)));
}

Test(store, is_left_to_the_program_that_follows)
{
	recording_make();
	pft_store_finish(&recording_place, true);
	cr_assert(exists(shared_path(0)));
	cr_assert_eq(pft_session->finished, 1);
	pft_store_resume();
	cr_assert_eq(pft_session->finished, 0, "exec has failed");
}

Test(store, goes_when_nobody_follows)
{
	recording_make();
	pft_store_finish(&recording_place, false);
	cr_assert_not(exists(shared_path(0)));
	cr_assert_not(exists(recording_place.session_link));
}
