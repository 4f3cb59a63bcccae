// SPDX-License-Identifier: MIT
// The executions of a trace directory. Called by the programs that list and remove them. An ordinary
// program's context; memory is taken from memory.h. Names are those of shim/place.h.
#ifndef PFT_EXECUTIONS_LIST_H
#define PFT_EXECUTIONS_LIST_H

#include <stdint.h>
#include <sys/stat.h>

#include "encoder/executions/execution.h"

#define PFT_LATEST "latest"

struct pft_executions {
	const char *path; // the caller's
	int fd;
	struct stat found;
};

// Opens the directory that holds executions. What is wrong with it, as a phrase; or NULL, and it is the
// caller's until it is closed.
const char *pft_executions_open(struct pft_executions *executions, const char *path);
void pft_executions_close(struct pft_executions *executions);

// What `latest` leads to, for free(); NULL when there is no such link, or not to an execution.
char *pft_executions_latest(const struct pft_executions *executions);

// What is to be said of an execution in a list.
struct pft_listed {
	char *id;
	int64_t written_s; // as of struct pft_execution
	uint64_t bytes;
	uint32_t processes, running, killed;
	char *program; // what its first process is called
};

struct pft_list {
	struct pft_listed *executions; // the one that was written last comes first
	uint32_t count;
};

// All that are directories and can be read; to be given back by pft_list_free.
struct pft_list pft_executions_list(const struct pft_executions *executions);
void pft_list_free(struct pft_list *list);
void pft_listed_free(struct pft_listed *execution); // one that was taken out of a list

#endif
