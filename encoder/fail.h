// SPDX-License-Identifier: MIT
// How the programs on the encoder's floor end when they cannot go on: one line on stderr, as `pft` says its
// own, and an exit status. Included by their main files alone.
#ifndef PFT_FAIL_H
#define PFT_FAIL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "encoder/terminal/progress.h"

#define PFT_FAILED 1 // what was asked for could not be done
#define PFT_REFUSED 2 // wrong usage, or an input that is not what it should be

__attribute__((format(printf, 2, 3), noreturn)) static inline void pft_fail(
	int status, const char *format, ...)
{
	va_list arguments;

	pft_progress_end();
	va_start(arguments, format);
	fputs("pft: ", stderr);
	vfprintf(stderr, format, arguments);
	fputs("\n", stderr);
	va_end(arguments);
	exit(status);
}

#endif
