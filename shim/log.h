// SPDX-License-Identifier: MIT
// One line to stderr through a raw write. Startup, app and flusher context. Silent by default: a line is
// said only for what the user must know (a wrong setting, a loss) or, with PFT_VERBOSE, wants to know.
// stderr is the program's: when it is closed the line is lost, and nothing else happens.
#ifndef PFT_LOG_H
#define PFT_LOG_H

#include <stdbool.h>
#include <stddef.h>

// Each takes strings up to a NULL and writes "pftshim: " and their concatenation as one line of at most
// 1 KiB in one write. Control characters become '?': values that users set are quoted in such lines.
void pft_log_say(const char *first, ...) __attribute__((sentinel));
void pft_log_verbose(const char *first, ...) __attribute__((sentinel));

// A text of many lines, as it is. Where stderr is closed or the program's, nothing happens.
void pft_log_text(const char *text, size_t size);

// Startup only. Verbose lines are off until it is called. What stderr is at this moment is remembered: a
// file that the program later puts at descriptor 2 gets no line of ours.
void pft_log_set_verbose(bool verbose);

// Words for an errno (or its negative), the same in every locale.
const char *pft_log_reason(long error);

#endif
