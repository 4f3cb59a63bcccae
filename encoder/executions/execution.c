// SPDX-License-Identifier: MIT
// Reads an execution's directory: see execution.h.
#include "encoder/executions/execution.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "encoder/read/memory.h"
#include "encoder/recover/held.h"
#include "encoder/recover/paths.h"
#include "encoder/session.h"

#define FILE_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

// ---- entries ----------------------------------------------------------------------------------------

static void add_entry(struct pft_execution *execution, const char *name)
{
	struct pft_entry entry = {.parts = pft_name_of(name)};
	uint32_t count = execution->entries_count;

	if (fstatat(execution->fd, name, &entry.found, AT_SYMLINK_NOFOLLOW) != 0)
		return; // it is gone by now
	entry.name = pft_read_copy(name, strlen(name));
	if ((count & (count - 1)) == 0)
		execution->entries = pft_read_resize(
			execution->entries, (count ? 2 * (size_t)count : 1) * sizeof *execution->entries);
	execution->entries[count] = entry;
	execution->entries_count++;
}

static bool read_entries(struct pft_execution *execution)
{
	int fd = openat(execution->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (!directory) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	for (struct dirent *entry; (entry = readdir(directory));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			add_entry(execution, entry->d_name);
	closedir(directory);
	return true;
}

static bool is_of_pft(const struct pft_execution *execution, const struct pft_entry *entry)
{
	mode_t mode = entry->found.st_mode;

	return entry->found.st_uid == execution->found.st_uid && entry->parts.kind != PFT_NAME_OTHER &&
	       (S_ISREG(mode) || (S_ISLNK(mode) && entry->parts.kind == PFT_NAME_SESSION));
}

// Most of a session is holes.
static uint64_t entry_bytes(const struct pft_entry *entry)
{
	return entry->parts.kind == PFT_NAME_SESSION ? (uint64_t)entry->found.st_blocks * 512
						     : (uint64_t)entry->found.st_size;
}

static void sum_up(struct pft_execution *execution)
{
	execution->written_s = execution->found.st_mtim.tv_sec;
	for (uint32_t i = 0; i < execution->entries_count; i++) {
		const struct pft_entry *entry = &execution->entries[i];

		if (!is_of_pft(execution, entry)) {
			execution->stranger = entry->name;
			continue;
		}
		execution->bytes += entry_bytes(entry);
		if (entry->found.st_mtim.tv_sec > execution->written_s)
			execution->written_s = entry->found.st_mtim.tv_sec;
	}
}

// ---- life -------------------------------------------------------------------------------------------

// Whether a file of that name is of the same process.
static bool is_beside(const struct pft_entry *entry, const char *name)
{
	size_t length = pft_name_of(name).process_length;

	return entry->parts.process_length == length && memcmp(entry->name, name, length) == 0;
}

static const struct pft_entry *session_entry(const struct pft_process *process)
{
	for (uint32_t i = 0; i < process->files_count; i++)
		if (process->files[i].parts.kind == PFT_NAME_SESSION)
			return &process->files[i];
	return NULL;
}

// Where the entry's session is: in memory, or the entry itself. A link may lead nowhere else.
static bool session_path(
	const struct pft_execution *execution, const struct pft_entry *entry, char *path, size_t size)
{
	static const char memory[] = PFT_SESSION_MEMORY "/" PFT_SESSION_NAME;
	ssize_t length;

	if (S_ISREG(entry->found.st_mode)) {
		memcpy(path, entry->name, strnlen(entry->name, size - 1) + 1);
		return true;
	}
	length = readlinkat(execution->fd, entry->name, path, size - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return strncmp(path, memory, sizeof memory - 1) == 0 && strchr(path + sizeof memory - 1, '/') == NULL;
}

// The session's descriptor and header; -1 when there is none, or it is of another process: a link may be left
// from an earlier process of the same pid.
static int session_open(const struct pft_execution *execution, const struct pft_process *process,
	const char *path, struct pft_session *header)
{
	int fd = openat(execution->fd, path, FILE_FLAGS);

	if (fd < 0)
		return -1;
	if (pread(fd, header, sizeof *header, 0) == sizeof *header && header->magic == PFT_SESSION_MAGIC &&
		memchr(header->trace_path, '\0', sizeof header->trace_path) &&
		is_beside(process->files, pft_path_name(header->trace_path)))
		return fd;
	close(fd);
	return -1;
}

static enum pft_life life_of_session(const struct pft_execution *execution, const struct pft_process *process,
	const struct pft_entry *entry)
{
	static struct pft_session header;
	char path[PFT_SESSION_PATH];
	enum pft_held held;
	int fd;

	if (!session_path(execution, entry, path, sizeof path))
		return PFT_LIFE_KILLED;
	fd = session_open(execution, process, path, &header);
	if (fd < 0)
		return PFT_LIFE_KILLED;
	held = pft_held(fd);
	close(fd);
	if (held == PFT_HELD_UNKNOWN && (kill((pid_t)header.pid, 0) == 0 || errno != ESRCH))
		held = PFT_HELD_BY_WRITER;
	if (held == PFT_HELD_BY_WRITER)
		return PFT_LIFE_RUNS;
	return header.finished ? PFT_LIFE_ENDED : PFT_LIFE_KILLED;
}

static bool is_written(const struct pft_execution *execution, const struct pft_entry *entry)
{
	int fd = S_ISREG(entry->found.st_mode) ? openat(execution->fd, entry->name, FILE_FLAGS) : -1;
	bool written = fd >= 0 && pft_held(fd) == PFT_HELD_BY_WRITER;

	if (fd >= 0)
		close(fd);
	return written;
}

static enum pft_life life_of(const struct pft_execution *execution, const struct pft_process *process)
{
	const struct pft_entry *session = session_entry(process);

	for (uint32_t i = 0; i < process->files_count; i++)
		if (is_written(execution, &process->files[i]))
			return PFT_LIFE_RUNS;
	return session ? life_of_session(execution, process, session) : PFT_LIFE_ENDED;
}

bool pft_process_session(
	const struct pft_execution *execution, const struct pft_process *process, char *path, size_t size)
{
	static struct pft_session header;
	const struct pft_entry *entry = session_entry(process);
	int fd;

	if (!entry || !S_ISLNK(entry->found.st_mode) || !session_path(execution, entry, path, size))
		return false;
	fd = session_open(execution, process, path, &header);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

// ---- processes --------------------------------------------------------------------------------------

static int compare(const void *one, const void *other)
{
	const struct pft_entry *a = one, *b = other;
	size_t length = a->parts.process_length < b->parts.process_length ? a->parts.process_length
									  : b->parts.process_length;
	int order = memcmp(a->name, b->name, length);

	if (order != 0)
		return order;
	if (a->parts.process_length != b->parts.process_length)
		return a->parts.process_length < b->parts.process_length ? -1 : 1;
	if (a->parts.part != b->parts.part)
		return a->parts.part < b->parts.part ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_process(struct pft_execution *execution, const struct pft_entry *files, uint32_t count)
{
	struct pft_process process = {.files = files, .files_count = count};

	process.name = pft_read_copy(files->name, files->parts.process_length);
	for (uint32_t i = 0; i < count; i++)
		process.bytes += entry_bytes(&files[i]);
	process.life = life_of(execution, &process);
	execution->processes[execution->processes_count++] = process;
}

static void find_processes(struct pft_execution *execution)
{
	struct pft_entry *entries = execution->entries;
	uint32_t count = execution->entries_count, first = 0;

	qsort(entries, count, sizeof *entries, compare);
	execution->processes = pft_read_alloc(count * sizeof *execution->processes);
	for (uint32_t i = 1; i <= count; i++) {
		if (i < count && is_beside(&entries[first], entries[i].name))
			continue;
		if (entries[first].parts.kind != PFT_NAME_OTHER)
			add_process(execution, &entries[first], i - first);
		first = i;
	}
}

uint32_t pft_execution_count(const struct pft_execution *execution, enum pft_life life)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < execution->processes_count; i++)
		count += execution->processes[i].life == life;
	return count;
}

// The first or the last file of a kind; NULL when there is none.
static const struct pft_entry *file_of(
	const struct pft_process *process, enum pft_name_kind kind, enum pft_glance_at at)
{
	const struct pft_entry *found = NULL;

	for (uint32_t i = 0; i < process->files_count; i++)
		if (process->files[i].parts.kind == kind && S_ISREG(process->files[i].found.st_mode) &&
			(!found || at == PFT_GLANCE_END))
			found = &process->files[i];
	return found;
}

void pft_process_glance(const struct pft_execution *execution, const struct pft_process *process,
	enum pft_glance_at at, struct pft_glance *glance)
{
	const struct pft_entry *trace = file_of(process, PFT_NAME_TRACE, at);
	const struct pft_entry *file = trace ? trace : file_of(process, PFT_NAME_JSON, at);
	int fd = file ? openat(execution->fd, file->name, FILE_FLAGS) : -1;

	if (fd < 0)
		return;
	if (trace)
		pft_glance_trace(glance, fd, at);
	else
		pft_glance_json(glance, fd, at);
	close(fd);
}

// ---- all of it --------------------------------------------------------------------------------------

const char *pft_execution_open(struct pft_execution *execution, int executions, const char *id)
{
	*execution = (struct pft_execution){.fd = -1};
	if (strchr(id, '/') || id[0] == '.' || id[0] == '\0')
		return "is no name of an execution";
	execution->fd = openat(executions, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (execution->fd < 0)
		return errno == ENOENT ? "no such execution" : strerror(errno);
	if (fstat(execution->fd, &execution->found) != 0 || !read_entries(execution)) {
		pft_execution_close(execution);
		return strerror(errno);
	}
	execution->id = pft_read_copy(id, strlen(id));
	find_processes(execution);
	sum_up(execution);
	return NULL;
}

void pft_execution_close(struct pft_execution *execution)
{
	for (uint32_t i = 0; i < execution->entries_count; i++)
		free(execution->entries[i].name);
	for (uint32_t i = 0; i < execution->processes_count; i++)
		free(execution->processes[i].name);
	free(execution->entries);
	free(execution->processes);
	free(execution->id);
	if (execution->fd >= 0)
		close(execution->fd);
	*execution = (struct pft_execution){.fd = -1};
}
