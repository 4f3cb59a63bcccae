// SPDX-License-Identifier: MIT
// One trace is made whole. Called by recover.c. An ordinary program's context. The rule: nothing goes before
// what it held is in the trace, and nothing that is whole is touched. What was done, or why it was not, is
// one line on stderr.
#ifndef PFT_RECOVER_JOB_H
#define PFT_RECOVER_JOB_H

#include <stdbool.h>

// Exit statuses; the greatest of several jobs' is the program's.
enum pft_answer {
	PFT_ANSWER_DONE, // or nothing was to do
	PFT_ANSWER_FAILED, // something could not be recovered
	PFT_ANSWER_INPUT, // what was given is neither a trace nor a session
};

enum pft_answer pft_answer_say(enum pft_answer answer, const char *path, const char *what);

// The greater one.
enum pft_answer pft_answer_of(enum pft_answer one, enum pft_answer other);

// By the session that the link beside the trace leads to; without one the trace is cut behind its last whole
// packet. A trace in JSON is the trace only where there are no packets beside it. `asked` for by name: it is
// a failure when its process still runs; else that is nothing to do.
enum pft_answer pft_job_trace(const char *trace_path, bool asked);

// By the session at `path`, which names its trace itself.
enum pft_answer pft_job_session(const char *path, bool asked);

#endif
