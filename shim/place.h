// SPDX-License-Identifier: MIT
// Where the files of a run go, and making that place safely. Startup context (and the start of a forked
// child).
//
//   {directory}/executions/{execution}/{process}.pftrace        the trace
//   {directory}/executions/{execution}/{process}.json           the trace as Chrome JSON
//   {directory}/executions/{execution}/{process}.session        link to the session's memory while it runs
//   {directory}/executions/latest                               link to the newest execution
//
// Directories are 0700, files 0600 and created exclusively; no symbolic link is followed below the
// directory's own path, and a directory that belongs to somebody else is refused. Of the directory's own
// path only what lies in a directory that everybody may write to (/tmp) must be ours or root's. No
// descriptor stays open.
#ifndef PFT_PLACE_H
#define PFT_PLACE_H

#include <stddef.h>
#include <stdint.h>

#define PFT_PATH_MAX 1024

enum pft_format { PFT_FORMAT_PFTRACE, PFT_FORMAT_JSON, PFT_FORMAT_BOTH };

struct pft_place {
	enum pft_format format; // set before pft_place_make: which traces there are
	char execution[128]; // id
	char directory[PFT_PATH_MAX]; // of the execution, absolute
	char process[256]; // file name without its ending; unique in the directory
	char trace[PFT_PATH_MAX];
	char json[PFT_PATH_MAX];
	char session_link[PFT_PATH_MAX];
};

// Makes the directories, reserves the traces' name by creating the files (a number is added to a name that
// is taken), and, when the execution is new, points `latest` at it, atomically. `directory` is absolute.
// `execution` and `process` may be NULL: an id is made from time, pid and random bits; the process is
// "{program}.{pid}". Slashes and control characters in names become '_'. 0, or -errno after one line on
// stderr that names the path and what is wrong.
int pft_place_make(struct pft_place *place, const char *directory, const char *execution, const char *process,
	const char *program);

// Takes the name of the trace back: nothing will be recorded.
void pft_place_undo(const struct pft_place *place);

// Descriptors of the traces; -1 for one that there is not.
struct pft_files {
	int trace, json;
};

#define PFT_FILES_NONE                                                                                       \
	{                                                                                                    \
		-1, -1                                                                                       \
	}

// Opens the traces for appending, close-on-exec; the descriptors are the caller's. 0, or -errno and none is
// open.
int pft_place_open(const struct pft_place *place, struct pft_files *files);
void pft_files_close(struct pft_files *files);

// The trace that the user is told of.
static inline const char *pft_place_shown(const struct pft_place *place)
{
	return place->format == PFT_FORMAT_JSON ? place->json : place->trace;
}

#endif
