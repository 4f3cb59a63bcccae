// SPDX-License-Identifier: MIT
// The file that a program on the encoder's floor makes. Included by their main files alone; one output a
// program. The rule: it appears whole or not at all, also when the program is interrupted, and nothing is
// overwritten unless asked for. What cannot be done ends the program with one line.
#ifndef PFT_OUTPUT_H
#define PFT_OUTPUT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/fail.h"

static char *pft_output_unfinished; // path of the output while it is being written

static inline void pft_output_remove(void)
{
	if (pft_output_unfinished)
		unlink(pft_output_unfinished);
}

static inline void pft_output_on_signal(int signal_number)
{
	pft_output_remove();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static inline void pft_output_catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
		if (signal(signals[i], pft_output_on_signal) == SIG_IGN)
			signal(signals[i], SIG_IGN);
}

// To be asked before work begins: whether the output may be made. It takes the place of what is there, which
// a device or a directory must not lose.
static inline void pft_output_check(const char *path, bool force)
{
	struct stat found;

	if (lstat(path, &found) < 0)
		return;
	if (!S_ISREG(found.st_mode))
		pft_fail(PFT_REFUSED, "%s: is there and no regular file, so it is not replaced", path);
	if (!force)
		pft_fail(PFT_REFUSED, "%s: exists already; --force replaces it", path);
}

// Where to write what will be at `path`.
static inline int pft_output_open(const char *path)
{
	int fd;

	if (asprintf(&pft_output_unfinished, "%s.XXXXXX", path) < 0)
		pft_fail(PFT_FAILED, "out of memory");
	fd = mkostemp(pft_output_unfinished, O_CLOEXEC);
	if (fd < 0) {
		int error = errno;

		free(pft_output_unfinished);
		pft_output_unfinished = NULL;
		pft_fail(PFT_FAILED, "%s: cannot be written: %s", path, strerror(error));
	}
	atexit(pft_output_remove);
	pft_output_catch_signals();
	return fd;
}

// It is complete. Some file systems cannot rename without replacing; there the look before must do.
static inline void pft_output_put_in_place(const char *path, bool force)
{
	const char *from = pft_output_unfinished;
	int result = renameat2(AT_FDCWD, from, AT_FDCWD, path, force ? 0 : RENAME_NOREPLACE);

	if (result < 0 && errno == EINVAL && access(path, F_OK) < 0)
		result = rename(from, path);
	if (result < 0 && errno == EEXIST)
		pft_fail(PFT_REFUSED, "%s: exists already; --force replaces it", path);
	if (result < 0)
		pft_fail(PFT_FAILED, "%s: cannot be written: %s", path, strerror(errno));
	pft_output_unfinished = NULL;
}

#endif
