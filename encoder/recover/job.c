// SPDX-License-Identifier: MIT
// From a session to a whole trace: see job.h. An ordinary program's context. The order: lock, check, write,
// mark the session as finished, and only then remove it; whoever is killed in between leaves the next one the
// same work. A session and its trace are of one user, whoever we are.
#include "encoder/recover/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "encoder/recover/complete.h"
#include "encoder/recover/held.h"
#include "encoder/recover/load.h"
#include "encoder/recover/paths.h"
#include "encoder/recover/repair.h"
#include "encoder/session.h"
#include "encoder/terminal/progress.h"

struct job {
	const char *trace_path, *session_path;
	char link_path[PFT_SESSION_PATH]; // leads to the session, or is it; may not be there
	char segment_path[PFT_SESSION_PATH]; // of the trace that the session goes on with
	struct stat trace_file, session_file;
	int trace_fd, session_fd; // for reading; or -1
	struct pft_session *session; // the copy
	bool removal_committed; // the last commit counts the removal that the session speaks of
	bool asked;
};

enum pft_answer pft_answer_say(enum pft_answer answer, const char *path, const char *what)
{
	fprintf(stderr, "pft: %s: %s\n", path, what);
	return answer;
}

enum pft_answer pft_answer_of(enum pft_answer one, enum pft_answer other)
{
	return one > other ? one : other;
}

// ---- opening ----------------------------------------------------------------------------------------

// The file is looked at only while nobody else recovers from it.
static const char *load(struct job *job)
{
	struct stat found;
	const char *flaw;

	if (flock(job->session_fd, LOCK_EX | LOCK_NB) != 0)
		return "is being recovered by another pft";
	if (stat(job->session_path, &found) != 0 || !pft_path_is_same(&found, &job->session_file))
		return "has been recovered by another pft";
	job->session = pft_load(job->session_fd, &flaw);
	return flaw;
}

static enum pft_answer open_session(struct job *job)
{
	const char *flaw;

	job->session_fd = pft_path_open(job->session_path, O_RDONLY, &job->session_file);
	if (job->session_fd < 0)
		return pft_answer_say(PFT_ANSWER_FAILED, job->session_path, strerror(errno));
	flaw = load(job);
	return flaw ? pft_answer_say(PFT_ANSWER_INPUT, job->session_path, flaw) : PFT_ANSWER_DONE;
}

static bool is_json(const struct job *job)
{
	return pft_path_ends(job->trace_path, PFT_JSON_ENDING);
}

static enum pft_answer find_link(struct job *job)
{
	if (pft_path_link(job->link_path, sizeof job->link_path, job->trace_path))
		return PFT_ANSWER_DONE;
	return pft_answer_say(
		PFT_ANSWER_INPUT, job->trace_path, "is no trace: its name does not end in .pftrace or .json");
}

static enum pft_answer open_trace(struct job *job)
{
	job->trace_fd = pft_path_open(job->trace_path, O_RDONLY, &job->trace_file);
	if (job->trace_fd < 0)
		return pft_answer_say(PFT_ANSWER_FAILED, job->trace_path, strerror(errno));
	return PFT_ANSWER_DONE;
}

static uint32_t committed_segment(const struct job *job)
{
	return pft_session_commit(job->session, job->session->generation)->segments.number;
}

// Of what the session calls the trace.
static const char *trace_ending(const struct job *job)
{
	return job->session->files & PFT_SESSION_PACKETS ? PFT_TRACE_ENDING : PFT_JSON_ENDING;
}

// The segment that the last commit speaks of.
static enum pft_answer open_segment(struct job *job)
{
	if (!pft_path_segment(job->segment_path, sizeof job->segment_path, job->link_path, PFT_LINK_ENDING,
		    committed_segment(job), trace_ending(job)))
		return pft_answer_say(PFT_ANSWER_FAILED, job->link_path, strerror(ENAMETOOLONG));
	if (job->trace_fd >= 0)
		close(job->trace_fd);
	job->removal_committed =
		pft_session_commit(job->session, job->session->generation)->segments.removed ==
		job->session->segments.removed;
	job->trace_path = job->segment_path;
	return open_trace(job);
}

static enum pft_answer close_job(struct job *job, enum pft_answer answer)
{
	if (job->session)
		pft_unload(job->session);
	if (job->session_fd >= 0)
		close(job->session_fd);
	if (job->trace_fd >= 0)
		close(job->trace_fd);
	return answer;
}

// ---- looking ----------------------------------------------------------------------------------------

static bool is_alive(const struct job *job)
{
	enum pft_held held = pft_held(job->session_fd);

	// Another process may have that pid by now; then this has to wait until that one is gone.
	if (held == PFT_HELD_UNKNOWN)
		return kill((pid_t)job->session->pid, 0) == 0 || errno != ESRCH;
	return held == PFT_HELD_BY_WRITER;
}

// A link may be left from an earlier process of the same pid. Then the trace of this session is another file,
// where the session says that it is.
static bool belong_together(const struct job *job)
{
	char named[PFT_SESSION_PATH + 64];
	struct stat found;

	if (!pft_path_segment(named, sizeof named, job->session->trace_path, trace_ending(job),
		    committed_segment(job), trace_ending(job)) ||
		strcmp(pft_path_name(named), pft_path_name(job->trace_path)) != 0)
		return false;
	return stat(named, &found) != 0 || pft_path_is_same(&found, &job->trace_file);
}

// ---- writing ----------------------------------------------------------------------------------------

static bool mark_finished(const struct job *job)
{
	uint64_t finished = 1;
	struct stat found;
	int fd = pft_path_open(job->session_path, O_WRONLY, &found);
	bool done = fd >= 0 && pft_path_is_same(&found, &job->session_file) &&
		    pwrite(fd, &finished, sizeof finished, offsetof(struct pft_session, finished)) ==
			    sizeof finished;

	if (fd >= 0)
		close(fd);
	return done;
}

static bool is_segment(const struct pft_made *made, int file, const struct stat *found)
{
	return found->st_ino == made->files[file].inode && found->st_dev == made->files[file].device;
}

// A segment that is named and that no inode is known of had been made, and nothing was written yet.
static bool is_begun(const struct pft_made *made, int file, const struct stat *found)
{
	return made->files[file].inode ? is_segment(made, file, found) : found->st_size == 0;
}

// Whatever else has come to the place of a file stays.
static void remove_segment(const struct job *job, const struct pft_made *made,
	bool (*is_it)(const struct pft_made *, int, const struct stat *))
{
	static const char *const endings[] = {PFT_TRACE_ENDING, PFT_JSON_ENDING};
	char path[PFT_SESSION_PATH];
	struct stat found;

	for (int file = 0; file < 2; file++)
		if (pft_path_segment(path, sizeof path, job->link_path, PFT_LINK_ENDING, made->segment,
			    endings[file]) &&
			lstat(path, &found) == 0 && S_ISREG(found.st_mode) &&
			found.st_uid == job->trace_file.st_uid && is_it(made, file, &found))
			unlink(path);
}

// A segment that was begun when the process died, and that no commit speaks of: what it holds was put into
// the one before. And what the process had counted as removed.
static void remove_segments(const struct job *job)
{
	if (job->session->made.segment > committed_segment(job))
		remove_segment(job, &job->session->made, is_begun);
	if (job->removal_committed)
		remove_segment(job, &job->session->removing, is_segment);
}

// The session goes last: with it everything could be done once more.
static bool remove_session(const struct job *job)
{
	char buffer[PFT_SESSION_PATH];
	const char *led_to = pft_path_session(buffer, sizeof buffer, job->link_path);

	if (!mark_finished(job))
		return false;
	if (led_to == buffer && strcmp(led_to, job->session_path) == 0)
		unlink(job->link_path);
	return unlink(job->session_path) == 0;
}

// -1: there is none, or it is the trace itself. Who has taken it away does not want it.
static int open_json(const struct job *job)
{
	char path[PFT_SESSION_PATH];
	struct stat found;

	if (!(job->session->files & PFT_SESSION_JSON) ||
		!pft_path_swap(path, sizeof path, job->trace_path, PFT_TRACE_ENDING, PFT_JSON_ENDING))
		return -1;
	return pft_path_open(path, O_RDWR | O_APPEND, &found);
}

static int sync_and_close(int fd)
{
	int error = fd < 0 || fsync(fd) == 0 ? 0 : -errno;

	if (fd >= 0)
		close(fd);
	return error;
}

static int complete_files(const struct job *job, int fd, struct pft_completed *completed)
{
	int json_fd = open_json(job);
	int error, sync_error;

	pft_progress_start_file("recovering", job->trace_path, fd);
	error = is_json(job) ? pft_complete(job->session, -1, fd, completed)
			     : pft_complete(job->session, fd, json_fd, completed);
	pft_progress_end();
	sync_error = sync_and_close(json_fd);
	return error != 0 ? error : sync_error;
}

// 0 or -errno; then all of it is on the disk.
static int complete(const struct job *job, struct pft_completed *completed)
{
	struct stat found;
	int fd = pft_path_open(job->trace_path, O_RDWR | O_APPEND, &found);
	int error = fd < 0 ? -errno : pft_path_is_same(&found, &job->trace_file) ? 0 : -ESTALE;
	int sync_error;

	if (error == 0)
		error = complete_files(job, fd, completed);
	sync_error = sync_and_close(fd);
	return error != 0 ? error : sync_error;
}

static enum pft_answer write_trace(const struct job *job)
{
	struct pft_completed completed;
	int error = complete(job, &completed);

	if (error == -ENODATA)
		return pft_answer_say(PFT_ANSWER_FAILED, job->trace_path,
			"is not what its process had written, or shorter; its session stays");
	if (error != 0)
		return pft_answer_say(PFT_ANSWER_FAILED, job->trace_path, strerror(-error));
	fprintf(stderr,
		"pft: %s: recovered %" PRIu64 " events; %" PRIu64 " events = %" PRIu64 " written + %" PRIu64
		" filtered + %" PRIu64 " dropped\n",
		job->trace_path, completed.found, completed.totals.produced, completed.totals.written,
		completed.totals.filtered, completed.totals.dropped);
	remove_segments(job);
	if (!remove_session(job))
		return pft_answer_say(PFT_ANSWER_FAILED, job->session_path, strerror(errno));
	return PFT_ANSWER_DONE;
}

static enum pft_answer use_session(const struct job *job)
{
	if (job->session_file.st_uid != job->trace_file.st_uid)
		return pft_answer_say(
			PFT_ANSWER_FAILED, job->session_path, "belongs to another user than its trace");
	if (!belong_together(job))
		return pft_answer_say(PFT_ANSWER_FAILED, job->trace_path,
			"its session is gone: another process has its place");
	if (!is_alive(job) && pft_held(job->trace_fd) != PFT_HELD_BY_WRITER)
		return write_trace(job);
	return job->asked ? pft_answer_say(PFT_ANSWER_FAILED, job->trace_path, "its process still runs")
			  : PFT_ANSWER_DONE;
}

// ---- jobs -------------------------------------------------------------------------------------------

// JSON is whole after every write.
static enum pft_answer repair(const struct job *job)
{
	char first;

	if (!is_json(job))
		return pft_repair(job->trace_path, job->trace_fd, job->asked);
	if (!job->asked || (pread(job->trace_fd, &first, 1, 0) == 1 && first == '{'))
		return PFT_ANSWER_DONE;
	return pft_answer_say(PFT_ANSWER_INPUT, job->trace_path, "is no trace");
}

enum pft_answer pft_job_trace(const char *trace_path, bool asked)
{
	struct job job = {.trace_path = trace_path, .trace_fd = -1, .session_fd = -1, .asked = asked};
	char buffer[PFT_SESSION_PATH];
	bool there = access(trace_path, F_OK) == 0 || errno != ENOENT;
	enum pft_answer answer = find_link(&job);

	if (!asked && !there) // its name was read before the recovery of another segment
		return PFT_ANSWER_DONE;
	if (answer == PFT_ANSWER_DONE)
		answer = open_trace(&job);
	if (answer != PFT_ANSWER_DONE)
		return close_job(&job, answer);
	job.session_path = pft_path_session(buffer, sizeof buffer, job.link_path);
	if (!job.session_path)
		return close_job(&job, repair(&job));
	if (access(job.session_path, F_OK) != 0 && errno == ENOENT) {
		answer =
			pft_answer_say(PFT_ANSWER_FAILED, trace_path, "its session is gone, or out of sight");
		return close_job(&job, pft_answer_of(answer, repair(&job)));
	}
	answer = open_session(&job);
	if (answer == PFT_ANSWER_DONE)
		answer = open_segment(&job);
	return close_job(&job, answer == PFT_ANSWER_DONE ? use_session(&job) : answer);
}

enum pft_answer pft_job_session(const char *path, bool asked)
{
	struct job job = {.session_path = path, .trace_fd = -1, .session_fd = -1, .asked = asked};
	enum pft_answer answer = open_session(&job);

	if (answer != PFT_ANSWER_DONE)
		return close_job(&job, answer);
	job.trace_path = job.session->trace_path;
	if (job.session->finished && access(job.trace_path, F_OK) != 0 && errno == ENOENT && !is_alive(&job))
		return close_job(&job, remove_session(&job) ? PFT_ANSWER_DONE : PFT_ANSWER_FAILED);
	answer = find_link(&job);
	if (answer == PFT_ANSWER_DONE)
		answer = open_segment(&job);
	return close_job(&job, answer == PFT_ANSWER_DONE ? use_session(&job) : answer);
}
