// SPDX-License-Identifier: MIT
// Where the files of a run go, and making that place safely. Startup context (and the start of a forked
// child).
//
//   {directory}/executions/{execution}/{process}.pftrace        the trace
//   {directory}/executions/{execution}/{process}.json           the trace as Chrome JSON
//   {directory}/executions/{execution}/{process}.part2.pftrace  its second segment, if there is one
//   {directory}/executions/{execution}/{process}.report.txt     reports: for people,
//   {directory}/executions/{execution}/{process}.report.json    for programs,
//   {directory}/executions/{execution}/{process}.report.trace.json  as Chrome JSON,
//   {directory}/executions/{execution}/{process}.report.folded  for flame graphs
//   {directory}/executions/{execution}/{process}.session        link to the session's memory while it runs
//   {directory}/executions/latest                               link to the newest execution
//
// Directories are 0700, files 0600 and created exclusively; no symbolic link is followed below the
// directory's own path, and a directory that belongs to somebody else is refused. Of the directory's own
// path only what lies in a directory that everybody may write to (/tmp) must be ours or root's. No
// descriptor stays open.
#ifndef PFT_PLACE_H
#define PFT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PFT_PATH_MAX 1024

// The files that a process may leave. The first of those that there are is the one that the user is told of.
enum pft_file {
	PFT_FILE_TRACE,
	PFT_FILE_JSON,
	PFT_FILE_REPORT_TEXT,
	PFT_FILE_REPORT_JSON,
	PFT_FILE_REPORT_CHROME,
	PFT_FILE_REPORT_FOLDED,
	PFT_FILES
};

// The first of them are written in segments (segments.h), each with a name of its own.
#define PFT_FILES_SEGMENTED 2

#define PFT_FILE_BIT(file) (1u << (file))
#define PFT_FILES_OF_REPORTS                                                                                 \
	(PFT_FILE_BIT(PFT_FILE_REPORT_TEXT) | PFT_FILE_BIT(PFT_FILE_REPORT_JSON) |                           \
		PFT_FILE_BIT(PFT_FILE_REPORT_CHROME) | PFT_FILE_BIT(PFT_FILE_REPORT_FOLDED))

struct pft_text;

struct pft_place {
	unsigned wanted; // set before pft_place_make: PFT_FILE_BIT of each file that there is to be
	char execution[128]; // id
	char directory[PFT_PATH_MAX]; // of the execution, absolute
	char process[256]; // file name without its ending; unique in the directory
	char paths[PFT_FILES][PFT_PATH_MAX];
	char session_link[PFT_PATH_MAX];
};

// What an execution is called that nobody has named: its start in seconds since 1970, its first process, and
// what tells it from others of the same second.
void pft_place_add_execution(struct pft_text *text, uint64_t seconds, uint32_t pid, uint32_t chance);

// Makes the directories, reserves the files' name by creating them (a number is added to a name that
// is taken), and, when the execution is new, points `latest` at it, atomically. `directory` is absolute.
// `execution` and `process` may be NULL: an id is made from time, pid and random bits; the process is
// "{program}.{pid}". Slashes and control characters in names become '_'. 0, or -errno after one line on
// stderr that names the path and what is wrong.
int pft_place_make(struct pft_place *place, const char *directory, const char *execution, const char *process,
	const char *program);

// Takes the names of the files back: nothing will be recorded.
void pft_place_undo(const struct pft_place *place);

// Descriptors of the files; -1 for one that there is not.
struct pft_files {
	int fds[PFT_FILES];
};

// No file is open.
void pft_files_clear(struct pft_files *files);
bool pft_files_are_open(const struct pft_files *files);

// Opens the files, those of segment `segment` where there are several, for appending, close-on-exec; the
// descriptors are the caller's. 0, or -errno and none is open; -ESTALE: what is there now is no file.
int pft_place_open(const struct pft_place *place, uint32_t segment, struct pft_files *files);

// Creates the files of another segment, and opens them likewise. -EEXIST: one of the names is taken.
int pft_place_create(const struct pft_place *place, uint32_t segment, struct pft_files *files);

// The path of a file of that segment. 0, or -ENAMETOOLONG.
int pft_place_path(const struct pft_place *place, int file, uint32_t segment, char path[PFT_PATH_MAX]);

void pft_files_close(struct pft_files *files);

// The trace that the user is told of.
static inline const char *pft_place_shown(const struct pft_place *place)
{
	return place->paths[place->wanted & PFT_FILE_BIT(PFT_FILE_TRACE) ? PFT_FILE_TRACE : PFT_FILE_JSON];
}

#endif
