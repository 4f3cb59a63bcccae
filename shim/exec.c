// SPDX-License-Identifier: MIT
// exec and spawn, interposed: what was recorded goes into the file before the program is replaced, and the
// program that comes records into the same execution. App context, and a child of vfork, which runs in its
// parent's memory: there nothing of ours may change.
#include "shim/process.h"

#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/base/text.h"
#include "shim/export.h"
#include "shim/flusher.h"
#include "shim/next.h"
#include "shim/settings.h"
#include "shim/store.h"

static const struct pft_place *exec_place;
static char execution_entry[160]; // "PFT_EXECUTION_ID=..."

void pft_exec_hand(const char *execution)
{
	struct pft_text text = pft_text_in(execution_entry, sizeof(execution_entry));

	pft_text_add(&text, "PFT_EXECUTION_ID=");
	pft_text_add(&text, execution);
}

void pft_exec_start(const struct pft_place *place)
{
	exec_place = place;
	pft_exec_hand(place->execution);
}

// ---- exec -------------------------------------------------------------------------------------------

static size_t count_of(char *const *list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

// The execution is handed on, unless the program says another or none of the tree. Behind a filter nothing is
// to be recorded.
static bool needs_entry(char *const *environment)
{
	if (!pft_environment_get(environment, "LD_PRELOAD"))
		return false;
	return pft_process_filters ||
	       (execution_entry[0] && !pft_environment_get(environment, "PFT_EXECUTION_ID"));
}

static bool is_mode(const char *entry)
{
	return strncmp(entry, "PFT_MODE=", 9) == 0 || strncmp(entry, "PERFETTO_TRACE_MODE=", 20) == 0;
}

static char *const *fill_environment(char **filled, char *const *environment)
{
	static char off[] = "PFT_MODE=off";
	size_t count = count_of(environment), used = 0;

	if (!filled)
		return environment;
	for (size_t i = 0; i < count; i++)
		if (!pft_process_filters || !is_mode(environment[i]))
			filled[used++] = environment[i];
	filled[used] = pft_process_filters ? off : execution_entry;
	filled[used + 1] = NULL;
	return filled;
}

// Everything that was recorded goes into the file: after exec nobody can put it there.
bool pft_exec_before(char *const *environment)
{
	if (!pft_process_records() || !pft_flusher_stop(true))
		return false;
	pft_store_finish(exec_place, pft_environment_get(environment, "LD_PRELOAD") != NULL);
	pft_flusher_let_signals_in();
	return true;
}

// exec has failed: recording goes on.
int pft_exec_after(bool was_here, int result)
{
	if (was_here) {
		pft_store_resume();
		pft_flusher_start();
	}
	return result;
}

// Room for the copy: on the caller's stack, since exec may be called where nothing may be allocated, unless
// it is too much for a small one; then it is mapped, and goes with the exec. Behind a filter mapping could
// kill.
#define ON_STACK 512

static char **map_environment(size_t count)
{
	void *at = pft_sys_mmap(
		NULL, count * sizeof(char *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pft_sys_failed(at) ? NULL : at;
}

// clang-format off
#define ROOM_FOR(count) ((count) <= ON_STACK || pft_process_filters ? alloca((count) * sizeof(char *)) : map_environment(count))
#define WITH_EXECUTION(environment) \
	(needs_entry(environment) \
		? fill_environment(ROOM_FOR(count_of(environment) + 2), environment) \
		: (environment))
// clang-format on

PFT_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
	int (*next)(const char *, char *const *, char *const *) = pft_next(PFT_NEXT_execve);
	bool was_here = pft_exec_before(environment);

	return pft_exec_after(was_here, next(path, arguments, WITH_EXECUTION(environment)));
}

PFT_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	int (*next)(const char *, char *const *, char *const *) = pft_next(PFT_NEXT_execvpe);
	bool was_here = pft_exec_before(environment);

	return pft_exec_after(was_here, next(file, arguments, WITH_EXECUTION(environment)));
}

PFT_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
	int (*next)(int, char *const *, char *const *) = pft_next(PFT_NEXT_fexecve);
	bool was_here = pft_exec_before(environment);

	return pft_exec_after(was_here, next(fd, arguments, WITH_EXECUTION(environment)));
}

PFT_EXPORT int execveat(
	int directory, const char *path, char *const arguments[], char *const environment[], int flags)
{
	int (*next)(int, const char *, char *const *, char *const *, int) = pft_next(PFT_NEXT_execveat);
	bool was_here = pft_exec_before(environment);

	return pft_exec_after(was_here, next(directory, path, arguments, WITH_EXECUTION(environment), flags));
}

PFT_EXPORT int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

PFT_EXPORT int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

static size_t count_arguments(const char *first, va_list list)
{
	size_t count = 1; // the NULL

	for (; first; first = va_arg(list, char *))
		count++;
	return count;
}

// Arguments up to and with the NULL that ends them.
static void take_arguments(char **taken, const char *first, va_list list)
{
	*taken = (char *)first;
	while (*taken++)
		*taken = va_arg(list, char *);
}

#define TAKE_ARGUMENTS(arguments, list, first)                                                               \
	va_list list;                                                                                        \
	char **arguments;                                                                                    \
	va_start(list, first);                                                                               \
	arguments = alloca(count_arguments(first, list) * sizeof(char *));                                   \
	va_end(list);                                                                                        \
	va_start(list, first);                                                                               \
	take_arguments(arguments, first, list)

PFT_EXPORT int execl(const char *path, const char *first, ...)
{
	TAKE_ARGUMENTS(arguments, list, first);
	va_end(list);
	return execve(path, arguments, environ);
}

PFT_EXPORT int execlp(const char *file, const char *first, ...)
{
	TAKE_ARGUMENTS(arguments, list, first);
	va_end(list);
	return execvpe(file, arguments, environ);
}

PFT_EXPORT int execle(const char *path, const char *first, ...)
{
	char *const *environment;
	TAKE_ARGUMENTS(arguments, list, first);
	environment = va_arg(list, char *const *);
	va_end(list);
	return execve(path, arguments, environment);
}

// ---- spawn ------------------------------------------------------------------------------------------

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
	const posix_spawnattr_t *, char *const *, char *const *);

PFT_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	spawn_function *next = pft_next(PFT_NEXT_posix_spawn);

	return next(pid, path, actions, attributes, arguments, WITH_EXECUTION(environment));
}

PFT_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
	const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
	spawn_function *next = pft_next(PFT_NEXT_posix_spawnp);

	return next(pid, file, actions, attributes, arguments, WITH_EXECUTION(environment));
}
