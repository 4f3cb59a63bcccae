// SPDX-License-Identifier: MIT
// Reports into files and into memory: see reports.h.
#include "shim/reports.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "encoder/base/arena.h"
#include "encoder/base/sys_x86_64.h"
#include "encoder/out.h"
#include "encoder/report/report.h"

#define ROWS 20

static void write_text(struct pft_out *out, const struct pft_report *report)
{
	pft_report_text(out, report, ROWS, false);
}

typedef void write_function(struct pft_out *out, const struct pft_report *report);

static int write_to(int fd, const struct pft_report *report, write_function *write)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct pft_out out;
	int error = pft_out_open(&out, fd, &arena);

	if (!error) {
		write(&out, report);
		error = pft_out_flush(&out);
	}
	pft_arena_free(&arena);
	return error;
}

int pft_reports_write(struct pft_watch *watch, struct pft_totals totals, const struct pft_files *files)
{
	static write_function *const writers[PFT_FILES] = {
		[PFT_FILE_REPORT_TEXT] = write_text,
		[PFT_FILE_REPORT_JSON] = pft_report_json,
		[PFT_FILE_REPORT_CHROME] = pft_report_chrome,
		[PFT_FILE_REPORT_FOLDED] = pft_report_folded,
	};
	struct pft_report report;
	int error = pft_watch_report(watch, totals, &report);

	for (int file = 0; error == 0 && file < PFT_FILES; file++) {
		if (!writers[file] || files->fds[file] < 0)
			continue;
		error = (int)pft_sys2(SYS_ftruncate, files->fds[file], 0);
		if (error == 0)
			error = write_to(files->fds[file], &report, writers[file]);
	}
	return error;
}

// In a file without a name first: what a report writes to is a file.
int pft_reports_render(struct pft_watch *watch, struct pft_totals totals, struct pft_said *said)
{
	struct pft_report report;
	int error = pft_watch_report(watch, totals, &report);
	long fd = error ? error : pft_sys2(SYS_memfd_create, "pftshim report", MFD_CLOEXEC);
	long size;
	void *at;

	if (fd < 0)
		return (int)fd;
	error = write_to((int)fd, &report, write_text);
	size = error ? error : pft_sys3(SYS_lseek, (int)fd, 0, SEEK_END);
	if (size > 0) {
		at = pft_sys_mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0);
		error = pft_sys_failed(at) ? (int)(long)at : 0;
		if (!error)
			*said = (struct pft_said){.text = at, .size = (size_t)size};
	}
	pft_sys_close((int)fd);
	return size < 0 ? (int)size : error;
}
