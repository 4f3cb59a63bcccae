// SPDX-License-Identifier: MIT
// The traces that a directory stands for, where a program on the encoder's floor is given one. Included by
// their main files alone. What cannot be done ends the program with one line.
#ifndef PFT_INPUTS_H
#define PFT_INPUTS_H

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/fail.h"
#include "encoder/recover/paths.h"

static inline int pft_inputs_is_trace(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && pft_path_ends(entry->d_name, PFT_TRACE_ENDING);
}

static inline bool pft_inputs_is_directory(const char *path)
{
	struct stat found;

	if (stat(path, &found) != 0)
		pft_fail(PFT_REFUSED, "%s: %s", path, strerror(errno));
	return S_ISDIR(found.st_mode);
}

// Calls `each` for each trace in an execution's directory that is a regular file, by name; it keeps the path,
// and says whether it took the trace. A directory of which none is taken is refused.
static inline void pft_inputs_of(const char *directory,
	bool (*each)(void *user, const char *path, const struct stat *found), void *user)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, pft_inputs_is_trace, alphasort);
	char executions[PATH_MAX];
	bool taken = false;

	if (count < 0)
		pft_fail(PFT_REFUSED, "%s: %s", directory, strerror(errno));
	for (int i = 0; i < count; i++) {
		struct stat found;
		char *path;

		if (asprintf(&path, "%s/%s", directory, entries[i]->d_name) < 0)
			pft_fail(PFT_FAILED, "out of memory");
		if (lstat(path, &found) == 0 && S_ISREG(found.st_mode))
			taken |= each(user, path, &found);
		free(entries[i]);
	}
	free(entries);
	if (taken)
		return;
	snprintf(executions, sizeof executions, "%s/executions", directory);
	if (access(executions, F_OK) == 0)
		pft_fail(PFT_REFUSED, "%s: holds executions; name one, as %s/latest", directory, executions);
	pft_fail(PFT_REFUSED, "%s: holds no trace", directory);
}

#endif
