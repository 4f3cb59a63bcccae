// SPDX-License-Identifier: MIT
// Removes what was recorded: see removal.h.
#include "encoder/executions/removal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/recover/paths.h"
#include "encoder/session.h"

const char *pft_removal_refusal(const struct pft_execution *execution, char *room, size_t size)
{
	if (execution->found.st_uid != geteuid())
		return "belongs to another user";
	if (pft_execution_count(execution, PFT_LIFE_RUNS) != 0)
		return "a process of it still runs";
	if (!execution->stranger)
		return NULL;
	snprintf(room, size, "holds %s, which pft did not make", execution->stranger);
	return room;
}

static void remove_session(const struct pft_execution *execution, const struct pft_process *process)
{
	char path[PFT_SESSION_PATH];
	struct stat found;

	if (process->life == PFT_LIFE_KILLED && pft_process_session(execution, process, path, sizeof path) &&
		lstat(path, &found) == 0 && found.st_uid == execution->found.st_uid)
		unlink(path);
}

// The directory may have been moved away meanwhile, and another one made in its place.
static bool is_in_place(const struct pft_executions *executions, const struct pft_execution *execution)
{
	struct stat found;

	return fstatat(executions->fd, execution->id, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
	       pft_path_is_same(&found, &execution->found);
}

int pft_removal_remove(const struct pft_executions *executions, const struct pft_execution *execution)
{
	if (!is_in_place(executions, execution))
		return -ESTALE;
	for (uint32_t i = 0; i < execution->processes_count; i++)
		remove_session(execution, &execution->processes[i]);
	for (uint32_t i = 0; i < execution->entries_count; i++)
		if (unlinkat(execution->fd, execution->entries[i].name, 0) != 0 && errno != ENOENT)
			return -errno;
	if (!is_in_place(executions, execution))
		return -ESTALE;
	return unlinkat(executions->fd, execution->id, AT_REMOVEDIR) == 0 ? 0 : -errno;
}

// ---- latest -----------------------------------------------------------------------------------------

static bool leads_somewhere(const struct pft_executions *executions, const char *id)
{
	struct stat found;

	return fstatat(executions->fd, id, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

// As the library does it: the link is made under a name that is nobody's and then moved over the old one.
static int point_at(const struct pft_executions *executions, const char *id)
{
	char name[48];
	int error;

	snprintf(name, sizeof name, "." PFT_LATEST ".%ld", (long)getpid());
	if (symlinkat(id, executions->fd, name) != 0)
		return -errno;
	if (renameat(executions->fd, name, executions->fd, PFT_LATEST) == 0)
		return 0;
	error = -errno;
	unlinkat(executions->fd, name, 0);
	return error;
}

int pft_removal_repair_latest(const struct pft_executions *executions)
{
	char *id = pft_executions_latest(executions);
	struct pft_list list = {0};
	int result = 0;

	if (id && !leads_somewhere(executions, id)) {
		list = pft_executions_list(executions);
		if (list.count != 0)
			result = point_at(executions, list.executions[0].id);
		else if (unlinkat(executions->fd, PFT_LATEST, 0) != 0)
			result = -errno;
	}
	pft_list_free(&list);
	free(id);
	return result;
}
