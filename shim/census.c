// SPDX-License-Identifier: MIT
// Programs that count their own threads, interposed: Chromium and what is built on it refuse to fork unless
// stat(2) of /proc/self/task shows as many links as one thread makes, and end themselves. The flusher goes
// for the time of a second look. App context.
#include <string.h>
#include <sys/stat.h>

#include "shim/export.h"
#include "shim/flusher.h"
#include "shim/next.h"
#include "shim/process.h"

// After a first look that was a success, so the path can be read.
static bool is_of_threads(const char *path)
{
	static const char name[] = "self/task";
	size_t length = strlen(path);

	while (length > 0 && path[length - 1] == '/')
		length--;
	if (length < sizeof(name) - 1)
		return false;
	path += length - (sizeof(name) - 1);
	return memcmp(path, name, sizeof(name) - 1) == 0;
}

static bool go_away(int result, const char *path)
{
	return result == 0 && is_of_threads(path) && pft_process_records() && pft_flusher_stop(false);
}

// clang-format off
// A function that looks at `path`; done twice when that is the directory of threads.
#define LOOKS_AT(name, parameters, arguments) \
	PFT_EXPORT int name parameters \
	{ \
		int (*next) parameters = pft_next(PFT_NEXT_##name); \
		int result = next arguments; \
\
		if (go_away(result, path)) { \
			result = next arguments; \
			pft_flusher_start(); \
		} \
		return result; \
	}
// clang-format on

LOOKS_AT(stat, (const char *path, struct stat *found), (path, found))
LOOKS_AT(stat64, (const char *path, struct stat64 *found), (path, found))
LOOKS_AT(fstatat, (int directory, const char *path, struct stat *found, int flags),
	(directory, path, found, flags))
LOOKS_AT(fstatat64, (int directory, const char *path, struct stat64 *found, int flags),
	(directory, path, found, flags))
