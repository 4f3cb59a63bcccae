// SPDX-License-Identifier: MIT
// The reports that PFT_REPORT asks for, written when a process ends or becomes another program. Flusher
// context. Called by flusher.c; one of the modules that know both sides.
#ifndef PFT_REPORTS_H
#define PFT_REPORTS_H

#include <stddef.h>

#include "encoder/watch.h"
#include "shim/place.h"

// What is to be said on stderr: one thread renders it, another may say it. Never freed.
struct pft_said {
	const char *text;
	size_t size; // 0: nothing
	int error; // 0 or -errno: a report is not complete
};

// Writes each report that there is a file for; what an earlier one said in it is replaced. 0, or the first
// -errno that writing met.
int pft_reports_write(struct pft_watch *watch, struct pft_totals totals, const struct pft_files *files);

// The report for people: fills in text and size. 0 or -errno.
int pft_reports_render(struct pft_watch *watch, struct pft_totals totals, struct pft_said *said);

#endif
