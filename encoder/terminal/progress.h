// SPDX-License-Identifier: MIT
// How far long work has come: a line on stderr that is drawn over itself and erased at the end. Called by the
// programs beside the library, and by what reads files for them. An ordinary program's context. There is one
// at a time. The rule: nothing is drawn unless stderr is a terminal, nor for work that is done at once;
// whoever feeds it need not know.
#ifndef PFT_TERMINAL_PROGRESS_H
#define PFT_TERMINAL_PROGRESS_H

#include <stdint.h>

// `doing` and `what` (the last part of a path) are kept until the end; `bytes` are all that there is to do.
void pft_progress_start(const char *doing, const char *what, uint64_t bytes);

// All of the file at `path` that is open at `fd`.
void pft_progress_start_file(const char *doing, const char *path, int fd);

// So many of them are done. Without a start before, or after the end, nothing happens.
void pft_progress_to(uint64_t bytes);

// Before anything else is said on the terminal.
void pft_progress_end(void);

#endif
