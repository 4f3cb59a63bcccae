// SPDX-License-Identifier: MIT
// What there is of an execution: its processes, and the files of each. Called by the programs that list and
// remove executions. An ordinary program's context; memory is taken from memory.h. The rule: nothing below
// the directory is opened by a whole path, and no symbolic link is followed but one to a session in memory.
#ifndef PFT_EXECUTIONS_EXECUTION_H
#define PFT_EXECUTIONS_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "encoder/executions/glance.h"
#include "encoder/executions/names.h"

// What has become of a process, as far as its files tell.
enum pft_life {
	PFT_LIFE_ENDED, // or nothing says that it did not
	PFT_LIFE_RUNS,
	PFT_LIFE_KILLED, // its session is still there, and may hold what its trace lacks
};

// A file in the execution's directory.
struct pft_entry {
	char *name;
	struct pft_name parts;
	struct stat found; // of itself, if it is a link
};

struct pft_process {
	char *name;
	const struct pft_entry *files; // in the order of their parts
	uint32_t files_count;
	uint64_t bytes;
	enum pft_life life;
};

struct pft_execution {
	char *id;
	int fd; // of its directory
	struct stat found; // likewise
	struct pft_entry *entries;
	uint32_t entries_count;
	struct pft_process *processes; // in the order of their names
	uint32_t processes_count;
	uint64_t bytes;
	int64_t written_s; // when it, or a file in it, was last changed: seconds of CLOCK_REALTIME
	const char *stranger; // of the names in it, one that is not of pft's making, or NULL
};

// Looks at the directory `id` in `executions`. What is wrong with it, as a phrase; or NULL, and it is the
// caller's until it is closed.
const char *pft_execution_open(struct pft_execution *execution, int executions, const char *id);
void pft_execution_close(struct pft_execution *execution);

// How many of its processes have come to this.
uint32_t pft_execution_count(const struct pft_execution *execution, enum pft_life life);

// Adds what its trace says, or its JSON if that is all there is: at the beginning of its first file, or at
// the end of its last.
void pft_process_glance(const struct pft_execution *execution, const struct pft_process *process,
	enum pft_glance_at at, struct pft_glance *glance);

// A session that a killed process left in memory, by the link `entry`: its path in `path`. False when there
// is none, or it is another process's.
bool pft_process_session(
	const struct pft_execution *execution, const struct pft_process *process, char *path, size_t size);

#endif
