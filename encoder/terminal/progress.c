// SPDX-License-Identifier: MIT
// Draws the line: see progress.h. It is drawn anew with each percent, so a hundred times at most.
#include "encoder/terminal/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What is smaller is read before one could look.
#define BYTES_MIN (UINT64_C(8) << 20)

#define BAR 30
#define WHAT_MAX 32 // the line must not wrap: then it could not be erased

static struct {
	const char *doing, *what;
	uint64_t bytes; // 0: there is none
	unsigned percent;
	bool drawn;
} progress;

static void draw(void)
{
	static const char done[] = "##############################";
	int width = (int)(progress.percent * BAR / 100);

	fprintf(stderr, "\r%s %.*s [%.*s%*s] %3u %%\033[K", progress.doing, WHAT_MAX, progress.what, width,
		done, BAR - width, "", progress.percent);
	progress.drawn = true;
}

void pft_progress_start(const char *doing, const char *what, uint64_t bytes)
{
	const char *slash = strrchr(what, '/');

	pft_progress_end();
	if (bytes < BYTES_MIN || !isatty(STDERR_FILENO))
		return;
	progress.doing = doing;
	progress.what = slash ? slash + 1 : what;
	progress.bytes = bytes;
	progress.percent = 0;
	draw();
}

void pft_progress_start_file(const char *doing, const char *path, int fd)
{
	struct stat found;

	if (fstat(fd, &found) == 0)
		pft_progress_start(doing, path, (uint64_t)found.st_size);
}

void pft_progress_to(uint64_t bytes)
{
	unsigned percent;

	if (!progress.bytes)
		return;
	percent = bytes < progress.bytes ? (unsigned)((double)bytes * 100 / (double)progress.bytes) : 100;
	if (percent == progress.percent)
		return;
	progress.percent = percent;
	draw();
}

void pft_progress_end(void)
{
	if (progress.drawn)
		fputs("\r\033[K", stderr);
	progress.drawn = false;
	progress.bytes = 0;
}
