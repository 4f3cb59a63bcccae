// SPDX-License-Identifier: MIT
// Reads the directory of executions: see list.h.
#include "encoder/executions/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/read/memory.h"

const char *pft_executions_open(struct pft_executions *executions, const char *path)
{
	int error;

	*executions = (struct pft_executions){.path = path};
	executions->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (executions->fd < 0)
		return errno == ENOENT ? "no execution was recorded there" : strerror(errno);
	if (fstat(executions->fd, &executions->found) == 0)
		return NULL;
	error = errno;
	close(executions->fd);
	return strerror(error);
}

void pft_executions_close(struct pft_executions *executions)
{
	close(executions->fd);
}

char *pft_executions_latest(const struct pft_executions *executions)
{
	char name[256];
	ssize_t length = readlinkat(executions->fd, PFT_LATEST, name, sizeof name);

	if (length <= 0 || length == sizeof name || memchr(name, '/', (size_t)length))
		return NULL;
	return pft_read_copy(name, (size_t)length);
}

// ---- the list ---------------------------------------------------------------------------------------

static int compare(const void *one, const void *other)
{
	const struct pft_listed *a = one, *b = other;

	if (a->written_s != b->written_s)
		return a->written_s > b->written_s ? -1 : 1;
	return strcmp(b->id, a->id); // ids that were made begin with the time
}

// The name of the process that began first, as far as traces say.
static char *program_of(const struct pft_execution *execution)
{
	struct pft_glance first = {.start_ns = UINT64_MAX};

	for (uint32_t i = 0; i < execution->processes_count; i++) {
		struct pft_glance glance = {0};

		pft_process_glance(execution, &execution->processes[i], PFT_GLANCE_BEGINNING, &glance);
		if (glance.start_ns != 0 && glance.start_ns < first.start_ns)
			first = glance;
	}
	if (first.process[0] == '\0' && execution->processes_count != 0)
		return pft_read_copy(execution->processes->name, strlen(execution->processes->name));
	return pft_read_copy(first.process, strlen(first.process));
}

static void add(struct pft_list *list, int executions, const char *id)
{
	struct pft_execution execution;

	if (strcmp(id, PFT_LATEST) == 0 || pft_execution_open(&execution, executions, id))
		return;
	if ((list->count & (list->count - 1)) == 0)
		list->executions = pft_read_resize(list->executions,
			(list->count ? 2 * (size_t)list->count : 1) * sizeof *list->executions);
	list->executions[list->count++] = (struct pft_listed){.id = pft_read_copy(id, strlen(id)),
		.written_s = execution.written_s,
		.bytes = execution.bytes,
		.processes = execution.processes_count,
		.running = pft_execution_count(&execution, PFT_LIFE_RUNS),
		.killed = pft_execution_count(&execution, PFT_LIFE_KILLED),
		.program = program_of(&execution)};
	pft_execution_close(&execution);
}

struct pft_list pft_executions_list(const struct pft_executions *executions)
{
	int fd = openat(executions->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	struct pft_list list = {0};

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return list;
	}
	for (struct dirent *entry; (entry = readdir(directory));)
		add(&list, executions->fd, entry->d_name);
	closedir(directory);
	if (list.count)
		qsort(list.executions, list.count, sizeof *list.executions, compare);
	return list;
}

void pft_listed_free(struct pft_listed *execution)
{
	free(execution->id);
	free(execution->program);
}

void pft_list_free(struct pft_list *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		pft_listed_free(&list->executions[i]);
	free(list->executions);
	*list = (struct pft_list){0};
}
