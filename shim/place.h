// SPDX-License-Identifier: MIT
// Where the files of a run go, and making that place safely. Startup context (and the start of a forked
// child).
//
//   {directory}/executions/{execution}/{process}.pftrace        the trace
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

struct pft_place {
	char execution[128]; // id
	char directory[PFT_PATH_MAX]; // of the execution, absolute
	char process[256]; // file name without its ending; unique in the directory
	char trace[PFT_PATH_MAX];
	char session_link[PFT_PATH_MAX];
};

// Makes the directories, reserves the trace's name by creating the file (a number is added to a name that
// is taken), and, when the execution is new, points `latest` at it, atomically. `directory` is absolute.
// `execution` and `process` may be NULL: an id is made from time, pid and random bits; the process is
// "{program}.{pid}". Slashes and control characters in names become '_'. 0, or -errno after one line on
// stderr that names the path and what is wrong.
int pft_place_make(struct pft_place *place, const char *directory, const char *execution, const char *process,
	const char *program);

// Takes the name of the trace back: nothing will be recorded.
void pft_place_undo(const struct pft_place *place);

// Opens the trace for appending, close-on-exec. A descriptor of the caller's, or -errno.
int pft_place_open(const struct pft_place *place);

#endif
