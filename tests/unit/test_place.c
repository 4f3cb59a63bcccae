// SPDX-License-Identifier: MIT
// The place of a run's files: what is made, what is trusted, what is refused.
#include "shim/place.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/captured.h"

#define NOBODY 65534

static char base[] = "/tmp/pft-place-XXXXXX";
#define BOTH (PFT_FILE_BIT(PFT_FILE_TRACE) | PFT_FILE_BIT(PFT_FILE_JSON))

static struct pft_place place = {.wanted = PFT_FILE_BIT(PFT_FILE_TRACE)},
			other = {.wanted = PFT_FILE_BIT(PFT_FILE_TRACE)};

static int entry_remove(const char *path, const struct stat *found, int kind, struct FTW *level)
{
	(void)found;
	(void)kind;
	(void)level;
	return remove(path);
}

static void base_make(void)
{
	cr_assert_not_null(mkdtemp(base));
	umask(022);
}

static void base_remove(void)
{
	nftw(base, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

TestSuite(place, .init = base_make, .fini = base_remove);

// A path below the base; good until the fifth call after.
static const char *below(const char *name)
{
	static char paths[4][PFT_PATH_MAX];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	snprintf(path, PFT_PATH_MAX, "%s/%s", base, name);
	return path;
}

static mode_t mode_of(const char *path)
{
	struct stat found;

	cr_assert_eq(lstat(path, &found), 0, "%s", path);
	return found.st_mode;
}

// The line that is said when a place is refused; fails when it is made.
static const char *refusal_of(const char *directory, const char *execution, int error)
{
	int result;
	const char *line;

	captured_start();
	result = pft_place_make(&place, directory, execution, NULL, "tool");
	line = captured_stop();
	cr_assert_eq(result, error, "%s: %d", directory, result);
	cr_assert_str_not_empty(line);
	return line;
}

// The end of a refusal: the reason and the path that it met.
static void assert_blames(const char *line, const char *reason, const char *path)
{
	char end[PFT_PATH_MAX + 128];

	snprintf(end, sizeof(end), ": %s: %s\n", reason, path);
	cr_assert_not_null(strstr(line, end), "%s", line);
}

static void must_be_root(void)
{
	if (geteuid() != 0)
		cr_skip_test("only root can make what belongs to others");
}

Test(place, makes_private_directories_and_an_empty_private_file)
{
	struct stat found;

	cr_assert_eq(pft_place_make(&place, base, "night", NULL, "tool"), 0);
	cr_assert_eq(mode_of(below("executions")), S_IFDIR | 0700);
	cr_assert_eq(mode_of(below("executions/night")), S_IFDIR | 0700);
	cr_assert_eq(mode_of(place.paths[PFT_FILE_TRACE]), S_IFREG | 0600);
	cr_assert_eq(stat(place.paths[PFT_FILE_TRACE], &found), 0);
	cr_assert_eq(found.st_size, 0);
}

Test(place, names_all_paths_by_program_and_pid)
{
	char process[64], name[128];

	cr_assert_eq(pft_place_make(&place, base, "night", NULL, "tool"), 0);
	snprintf(process, sizeof(process), "tool.%d", getpid());
	cr_assert_str_eq(place.process, process);
	cr_assert_str_eq(place.execution, "night");
	cr_assert_str_eq(place.directory, below("executions/night"));
	snprintf(name, sizeof(name), "executions/night/%s.pftrace", process);
	cr_assert_str_eq(place.paths[PFT_FILE_TRACE], below(name));
	snprintf(name, sizeof(name), "executions/night/%s.session", process);
	cr_assert_str_eq(place.session_link, below(name));
}

// Not by time(), which lags behind for up to a tick.
static void write_time(char *text, size_t size)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	strftime(text, size, "%Y%m%d-%H%M%S", gmtime(&now.tv_sec));
}

Test(place, makes_an_execution_id_that_begins_with_the_time)
{
	char before[32], after[32];

	write_time(before, sizeof(before));
	cr_assert_eq(pft_place_make(&place, base, NULL, NULL, "tool"), 0);
	cr_assert_eq(pft_place_make(&other, base, "", NULL, "tool"), 0);
	write_time(after, sizeof(after));
	cr_assert_geq(strncmp(place.execution, before, strlen(before)), 0);
	cr_assert_leq(strncmp(place.execution, after, strlen(after)), 0);
	cr_assert_str_neq(place.execution, other.execution);
}

Test(place, adds_a_number_to_a_name_that_is_taken)
{
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_eq(pft_place_make(&other, base, "night", "worker", "tool"), 0);
	cr_assert_str_eq(place.paths[PFT_FILE_TRACE], below("executions/night/worker.pftrace"));
	cr_assert_str_eq(other.paths[PFT_FILE_TRACE], below("executions/night/worker.1.pftrace"));
	cr_assert_str_eq(other.session_link, below("executions/night/worker.1.session"));
}

Test(place, does_not_follow_a_link_that_bears_the_name_of_the_trace)
{
	cr_assert_eq(pft_place_make(&other, base, "night", "first", "tool"), 0);
	cr_assert_eq(symlink(below("elsewhere"), below("executions/night/worker.pftrace")), 0);
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_str_eq(place.process, "worker.1");
	cr_assert_eq(access(below("elsewhere"), F_OK), -1);
}

Test(place, leaves_a_link_alone_that_bears_the_name_of_the_sessions)
{
	cr_assert_eq(pft_place_make(&other, base, "night", "first", "tool"), 0);
	cr_assert_eq(symlink(below("elsewhere"), below("executions/night/worker.session")), 0);
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_str_eq(place.session_link, below("executions/night/worker.1.session"));
	cr_assert_neq(access(below("executions/night/worker.pftrace"), F_OK), 0);
}

Test(place, keeps_names_inside_their_directory)
{
	cr_assert_eq(pft_place_make(&place, base, "..", "../../up", "tool"), 0);
	cr_assert_str_eq(place.execution, "_.");
	cr_assert_str_eq(place.process, "_._.._up");
	cr_assert_eq(pft_place_make(&place, base, "a/b\n", NULL, "x\ty"), 0);
	cr_assert_str_eq(place.execution, "a_b_");
	cr_assert_eq(strncmp(place.process, "x_y.", 4), 0);
}

Test(place, cuts_names_that_are_too_long_for_a_file)
{
	char name[1000];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cr_assert_eq(pft_place_make(&place, base, name, name, "tool"), 0);
	cr_assert_eq(pft_place_make(&place, base, name, name, "tool"), 0);
	cr_assert_eq(place.process[strlen(place.process) - 1], '1');
	cr_assert_eq(pft_place_make(&place, base, name, NULL, name), 0);
	cr_assert_eq(atoi(strrchr(place.process, '.') + 1), getpid());
}

Test(place, points_latest_at_the_newest_execution)
{
	char target[128] = "";

	cr_assert_eq(pft_place_make(&place, base, "first", NULL, "tool"), 0);
	cr_assert_eq(pft_place_make(&place, base, "second", NULL, "tool"), 0);
	cr_assert_geq(readlink(below("executions/latest"), target, sizeof(target) - 1), 0);
	cr_assert_str_eq(target, "second");
}

Test(place, leaves_latest_alone_when_it_joins_an_older_execution)
{
	char target[128] = "";

	cr_assert_eq(pft_place_make(&place, base, "first", NULL, "tool"), 0);
	cr_assert_eq(pft_place_make(&place, base, "second", NULL, "tool"), 0);
	cr_assert_eq(pft_place_make(&place, base, "first", NULL, "child"), 0);
	cr_assert_geq(readlink(below("executions/latest"), target, sizeof(target) - 1), 0);
	cr_assert_str_eq(target, "second");
}

Test(place, leaves_nothing_behind_when_latest_cannot_be_made)
{
	DIR *directory;
	unsigned entries = 0;

	cr_assert_eq(pft_place_make(&place, base, "first", NULL, "tool"), 0);
	cr_assert_eq(unlink(below("executions/latest")), 0);
	cr_assert_eq(mkdir(below("executions/latest"), 0700), 0);
	cr_assert_eq(pft_place_make(&place, base, "second", NULL, "tool"), 0);
	directory = opendir(below("executions"));
	while (readdir(directory))
		entries++;
	closedir(directory);
	cr_assert_eq(entries, 5, "., .., latest, first, second");
}

Test(place, makes_the_way_to_the_directory)
{
	cr_assert_eq(pft_place_make(&place, below("a//b/c/"), "night", NULL, "tool"), 0);
	cr_assert_eq(mode_of(below("a")), S_IFDIR | 0700);
	cr_assert_str_eq(place.directory, below("a/b/c/executions/night"));
}

Test(place, reaches_the_directory_through_a_link_of_the_users)
{
	cr_assert_eq(mkdir(below("real"), 0755), 0);
	cr_assert_eq(symlink("real", below("link")), 0);
	cr_assert_eq(pft_place_make(&place, below("link"), "night", NULL, "tool"), 0);
	cr_assert_eq(mode_of(below("real/executions/night")), S_IFDIR | 0700);
}

Test(place, follows_no_link_below_the_directory)
{
	cr_assert_eq(mkdir(below("real"), 0700), 0);
	cr_assert_eq(symlink(below("real"), below("executions")), 0);
	assert_blames(refusal_of(base, "night", -ENOTDIR), "Not a directory", below("executions"));
	cr_assert_eq(unlink(below("executions")), 0);
	cr_assert_eq(mkdir(below("executions"), 0700), 0);
	cr_assert_eq(symlink(below("real"), below("executions/night")), 0);
	assert_blames(refusal_of(base, "night", -ENOTDIR), "Not a directory", below("executions/night"));
}

Test(place, refuses_what_belongs_to_somebody_else)
{
	must_be_root();
	cr_assert_eq(mkdir(below("executions"), 0777), 0);
	cr_assert_eq(chown(below("executions"), NOBODY, NOBODY), 0);
	assert_blames(refusal_of(base, "night", -EPERM), "belongs to another user", below("executions"));
}

Test(place, refuses_what_others_put_where_everybody_may_write)
{
	must_be_root();
	cr_assert_eq(mkdir(below("tmp"), 0700), 0);
	cr_assert_eq(chmod(below("tmp"), 01777), 0);
	cr_assert_eq(mkdir(below("tmp/user"), 0777), 0);
	cr_assert_eq(chown(below("tmp/user"), NOBODY, NOBODY), 0);
	refusal_of(below("tmp/user/pft_traces"), "night", -EPERM);
	cr_assert_eq(symlink(base, below("tmp/link")), 0);
	cr_assert_eq(lchown(below("tmp/link"), NOBODY, NOBODY), 0);
	refusal_of(below("tmp/link"), "night", -EPERM);
	cr_assert_eq(lchown(below("tmp/link"), 0, 0), 0);
	cr_assert_eq(pft_place_make(&place, below("tmp/link"), "night", NULL, "tool"), 0);
}

Test(place, accepts_a_directory_of_somebody_else_that_the_user_gave)
{
	must_be_root();
	cr_assert_eq(mkdir(below("given"), 0700), 0);
	cr_assert_eq(chown(below("given"), NOBODY, NOBODY), 0);
	cr_assert_eq(pft_place_make(&place, below("given"), "night", NULL, "tool"), 0);
}

Test(place, says_where_it_may_not_write)
{
	must_be_root();
	cr_assert_eq(chmod(base, 0755), 0);
	cr_assert_eq(seteuid(NOBODY), 0);
	assert_blames(refusal_of(below("a/b"), "night", -EACCES), "Permission denied", below("a"));
	cr_assert_eq(seteuid(0), 0);
	prctl(PR_SET_DUMPABLE, 1); // or LeakSanitizer cannot look at us
}

Test(place, refuses_a_file_in_place_of_a_directory_and_names_the_setting)
{
	char line[PFT_PATH_MAX + 256];

	cr_assert_geq(close(open(below("file"), O_CREAT | O_WRONLY, 0600)), 0);
	snprintf(line, sizeof(line),
		"pftshim: PFT_TRACE_DIR=%s cannot be used; accepted: a directory that may be made and "
		"written to; "
		"this program is not traced: Not a directory: %s\n",
		below("file"), below("file"));
	cr_assert_str_eq(refusal_of(below("file"), "night", -ENOTDIR), line);
}

Test(place, refuses_paths_that_do_not_fit)
{
	char directory[3000];

	memset(directory, 'd', sizeof(directory) - 1);
	directory[sizeof(directory) - 1] = '\0';
	directory[0] = '/';
	refusal_of(directory, "night", -ENAMETOOLONG);
	for (size_t i = 0; i < sizeof(directory) - 1; i += 2)
		directory[i] = '/';
	captured_start();
	cr_expect_eq(pft_place_make(&place, below(directory), "night", NULL, "tool"), -ENAMETOOLONG);
	captured_stop();
	cr_assert_eq(access(below("d/d/d"), F_OK), 0);
}

Test(place, opens_the_trace_for_appending_and_not_for_children)
{
	struct pft_files files;
	struct stat found;

	cr_assert_eq(pft_place_make(&place, base, "night", NULL, "tool"), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pft_place_open(&place, 1, &files), 0);
		cr_assert(fcntl(files.fds[PFT_FILE_TRACE], F_GETFD) & FD_CLOEXEC);
		cr_assert_eq(write(files.fds[PFT_FILE_TRACE], "1234", 4), 4);
		cr_assert_eq(files.fds[PFT_FILE_JSON], -1);
		pft_files_close(&files);
	}
	cr_assert_eq(stat(place.paths[PFT_FILE_TRACE], &found), 0);
	cr_assert_eq(found.st_size, 8);
	cr_assert_neq(access(place.paths[PFT_FILE_JSON], F_OK), 0);
}

// ---- formats ----------------------------------------------------------------------------------------

Test(place, makes_the_files_of_both_formats_under_one_name)
{
	struct pft_files files;

	place.wanted = BOTH;
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_str_eq(place.paths[PFT_FILE_TRACE], below("executions/night/worker.pftrace"));
	cr_assert_str_eq(place.paths[PFT_FILE_JSON], below("executions/night/worker.json"));
	cr_assert_eq(mode_of(place.paths[PFT_FILE_JSON]), S_IFREG | 0600);
	cr_assert_eq(pft_place_open(&place, 1, &files), 0);
	cr_assert_eq(write(files.fds[PFT_FILE_JSON], "1234", 4), 4);
	cr_assert_geq(files.fds[PFT_FILE_TRACE], 0);
	pft_files_close(&files);
	cr_assert_eq(files.fds[PFT_FILE_JSON], -1);
	cr_assert_str_eq(pft_place_shown(&place), place.paths[PFT_FILE_TRACE]);
	pft_place_undo(&place);
	cr_assert_neq(access(place.paths[PFT_FILE_TRACE], F_OK), 0);
	cr_assert_neq(access(place.paths[PFT_FILE_JSON], F_OK), 0);
}

Test(place, makes_a_file_for_each_report)
{
	place.wanted = PFT_FILE_BIT(PFT_FILE_TRACE) | PFT_FILES_OF_REPORTS;
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_eq(mode_of(below("executions/night/worker.report.txt")), S_IFREG | 0600);
	cr_assert_eq(mode_of(below("executions/night/worker.report.json")), S_IFREG | 0600);
	cr_assert_eq(mode_of(below("executions/night/worker.report.trace.json")), S_IFREG | 0600);
	cr_assert_eq(mode_of(below("executions/night/worker.report.folded")), S_IFREG | 0600);
	cr_assert_neq(access(place.paths[PFT_FILE_JSON], F_OK), 0);
	pft_place_undo(&place);
	cr_assert_neq(access(below("executions/night/worker.report.folded"), F_OK), 0);
}

Test(place, makes_json_alone)
{
	struct pft_files files;

	place.wanted = PFT_FILE_BIT(PFT_FILE_JSON);
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_neq(access(place.paths[PFT_FILE_TRACE], F_OK), 0);
	cr_assert_eq(pft_place_open(&place, 1, &files), 0);
	cr_assert_eq(files.fds[PFT_FILE_TRACE], -1);
	cr_assert_geq(files.fds[PFT_FILE_JSON], 0);
	cr_assert_str_eq(pft_place_shown(&place), place.paths[PFT_FILE_JSON]);
}

Test(place, adds_a_number_when_either_file_is_there)
{
	place.wanted = PFT_FILE_BIT(PFT_FILE_JSON);
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	place.wanted = BOTH;
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_str_eq(place.paths[PFT_FILE_JSON], below("executions/night/worker.1.json"));
	cr_assert_neq(access(below("executions/night/worker.pftrace"), F_OK), 0);
}

Test(place, opens_both_files_or_none)
{
	struct pft_files files;
	int lowest;

	place.wanted = BOTH;
	cr_assert_eq(pft_place_make(&place, base, "night", NULL, "tool"), 0);
	cr_assert_eq(unlink(place.paths[PFT_FILE_JSON]), 0);
	lowest = dup(0);
	close(lowest);
	cr_assert_eq(pft_place_open(&place, 1, &files), -ENOENT);
	cr_assert_eq(files.fds[PFT_FILE_TRACE], -1);
	cr_assert_eq(dup(0), lowest);
}

Test(place, makes_the_files_of_another_segment_or_none)
{
	struct pft_files files;

	place.wanted = BOTH;
	cr_assert_eq(pft_place_make(&place, base, "night", "worker", "tool"), 0);
	cr_assert_eq(pft_place_create(&place, 2, &files), 0);
	cr_assert_eq(mode_of(below("executions/night/worker.part2.pftrace")), S_IFREG | 0600);
	cr_assert_eq(mode_of(below("executions/night/worker.part2.json")), S_IFREG | 0600);
	cr_assert(fcntl(files.fds[PFT_FILE_JSON], F_GETFD) & FD_CLOEXEC);
	pft_files_close(&files);
	cr_assert_eq(pft_place_open(&place, 2, &files), 0);
	pft_files_close(&files);
	cr_assert_eq(symlink("nowhere", below("executions/night/worker.part3.json")), 0);
	cr_assert_eq(pft_place_create(&place, 3, &files), -EEXIST);
	cr_assert_neq(access(below("executions/night/worker.part3.pftrace"), F_OK), 0);
	cr_assert_eq(files.fds[PFT_FILE_TRACE], -1);
}

// With a reader and without.
Test(place, opens_nothing_but_a_file, .timeout = 10)
{
	struct pft_files files;
	int reader;

	cr_assert_eq(pft_place_make(&place, base, "night", NULL, "tool"), 0);
	cr_assert_eq(unlink(place.paths[PFT_FILE_TRACE]), 0);
	cr_assert_eq(mkfifo(place.paths[PFT_FILE_TRACE], 0600), 0);
	cr_assert_eq(pft_place_open(&place, 1, &files), -ESTALE);
	reader = open(place.paths[PFT_FILE_TRACE], O_RDONLY | O_NONBLOCK);
	cr_assert_eq(pft_place_open(&place, 1, &files), -ESTALE);
	cr_assert_eq(files.fds[PFT_FILE_TRACE], -1);
	cr_assert_eq(dup(0), reader + 1);
	close(reader + 1);
	close(reader);
}

Test(place, leaves_no_descriptor_open)
{
	int lowest = dup(0);

	close(lowest);
	cr_assert_eq(pft_place_make(&place, base, "night", NULL, "tool"), 0);
	refusal_of(place.paths[PFT_FILE_TRACE], "night", -ENOTDIR);
	cr_assert_eq(dup(0), lowest);
}
