// SPDX-License-Identifier: MIT
// Completes traces whose processes could not end them, from what their sessions still hold. A program of its
// own, which `pft recover` and `pft run` start: pft-recover [TRACE | SESSION | DIRECTORY]...
//
// A directory is an execution's, or one that holds executions. Without an argument all sessions in /dev/shm
// are meant that belong to the user. Exit status: the greatest of enum pft_answer.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/recover/job.h"
#include "encoder/recover/paths.h"
#include "encoder/session.h"

#define PATH_BYTES 4096

typedef enum pft_answer each(const char *path);

// Does it to every entry. An entry that is added meanwhile may be left out, one that is removed may not be
// there.
static enum pft_answer for_each(const char *directory, each *act)
{
	DIR *entries = opendir(directory);
	enum pft_answer answer = PFT_ANSWER_DONE;
	char path[PATH_BYTES];

	if (!entries)
		return pft_answer_say(PFT_ANSWER_FAILED, directory, strerror(errno));
	for (struct dirent *entry; (entry = readdir(entries));)
		if (entry->d_name[0] != '.' &&
			(size_t)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) < sizeof path)
			answer = pft_answer_of(answer, act(path));
	closedir(entries);
	return answer;
}

// ---- what there is to recover -----------------------------------------------------------------------

static bool is_there(const char *path)
{
	struct stat found;

	return lstat(path, &found) == 0;
}

// The trace that lies beside a path of this ending: packets, or else JSON. False when the path ends
// otherwise.
static bool trace_beside(char *trace, size_t size, const char *path, const char *ending)
{
	char json[PATH_BYTES];

	if (!pft_path_swap(trace, size, path, ending, PFT_TRACE_ENDING) ||
		!pft_path_swap(json, sizeof json, path, ending, PFT_JSON_ENDING))
		return false;
	if (!is_there(trace) && is_there(json))
		snprintf(trace, size, "%s", json);
	return true;
}

static enum pft_answer recover_beside(const char *path)
{
	char trace[PATH_BYTES];

	if (pft_path_ends(path, PFT_TRACE_ENDING))
		return pft_job_trace(path, false);
	if (trace_beside(trace, sizeof trace, path, PFT_JSON_ENDING) && strcmp(trace, path) == 0)
		return pft_job_trace(path, false);
	return PFT_ANSWER_DONE;
}

static bool is_directory(const char *path)
{
	struct stat found;

	return lstat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static enum pft_answer recover_execution(const char *path)
{
	return is_directory(path) ? for_each(path, recover_beside) : PFT_ANSWER_DONE;
}

static enum pft_answer recover_directory(const char *path)
{
	char executions[PATH_BYTES];

	if ((size_t)snprintf(executions, sizeof executions, "%s/executions", path) < sizeof executions &&
		is_directory(executions))
		return for_each(executions, recover_execution);
	return for_each(path, recover_beside);
}

static enum pft_answer recover_own(const char *path)
{
	struct stat found;

	if (strncmp(pft_path_name(path), PFT_SESSION_NAME, strlen(PFT_SESSION_NAME)) != 0 ||
		lstat(path, &found) != 0 || found.st_uid != geteuid())
		return PFT_ANSWER_DONE;
	return pft_job_session(path, false);
}

static enum pft_answer recover_path(const char *path)
{
	char trace[PATH_BYTES];
	struct stat found;

	if (trace_beside(trace, sizeof trace, path, PFT_LINK_ENDING))
		return pft_job_trace(trace, true);
	if (stat(path, &found) != 0)
		return pft_answer_say(PFT_ANSWER_INPUT, path, strerror(errno));
	if (S_ISDIR(found.st_mode))
		return recover_directory(path);
	if (pft_path_ends(path, PFT_TRACE_ENDING))
		return pft_job_trace(path, true);
	if (trace_beside(trace, sizeof trace, path, PFT_JSON_ENDING))
		return pft_job_trace(trace, true);
	return pft_job_session(path, true);
}

int main(int argc, char **argv)
{
	enum pft_answer answer = PFT_ANSWER_DONE;

	if (argc == 1)
		return for_each(PFT_SESSION_MEMORY, recover_own);
	for (int i = 1; i < argc; i++)
		answer = pft_answer_of(answer, recover_path(argv[i]));
	return answer;
}
