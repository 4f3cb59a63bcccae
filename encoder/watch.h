// SPDX-License-Identifier: MIT
// What is drained is added up as well, for a report when the process ends: calls as they were recorded,
// before filters leave any out. Called by lane.c, calls.c and strands.c. Flusher context. The rule: nobody
// watches where there is no memory, and recording goes on.
#ifndef PFT_WATCH_H
#define PFT_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/report/report.h"
#include "encoder/report/summary.h"
#include "encoder/trace.h"

struct pft_session;
struct pft_watch;

// One thread and its own stack. A zeroed one is watched by nobody.
struct pft_watched {
	struct pft_watch *watch;
	struct pft_summary_thread *thread;
	struct pft_summary_stack *stack;
};

// A call on a stack that is not the thread's own. A zeroed one is watched by nobody.
struct pft_watched_call {
	struct pft_watch *watch;
	struct pft_summary_thread *thread; // that it began on
	struct pft_summary_frame frame;
};

// NULL when out of memory. The session must outlive it.
struct pft_watch *pft_watch_open(struct pft_session *session);
void pft_watch_close(struct pft_watch *watch);

// All that was seen by now, for a process of those totals. `report` and what it points to are good up to the
// next event or report. -ENOMEM when there is no memory for that.
int pft_watch_report(struct pft_watch *watch, struct pft_totals totals, struct pft_report *report);

// A thread begins, and has this name from now on; `watch` may be NULL.
void pft_watch_thread(struct pft_watch *watch, struct pft_watched *watched, uint32_t tid, uint64_t ns);
void pft_watched_name(const struct pft_watched *watched, const char *name);
void pft_watched_end_thread(struct pft_watched *watched, uint64_t ns);

// Calls of hook `id` on the thread's own stack, in order of time.
void pft_watched_begin(const struct pft_watched *watched, uint64_t ns, uint32_t id);
void pft_watched_end(const struct pft_watched *watched, uint64_t ns, bool unwound);
// All that are open end.
void pft_watched_end_all(const struct pft_watched *watched, uint64_t ns, bool unwound);
// Events were lost, after which no call is known to be open.
void pft_watched_gap(const struct pft_watched *watched, uint64_t dropped);

// Calls on other stacks; `watched` is the thread that records the begin. `caller` may be NULL.
void pft_watched_enter(const struct pft_watched *watched, struct pft_watched_call *call,
	const struct pft_watched_call *caller, uint64_t ns, uint32_t id);
void pft_watched_leave(
	const struct pft_watched_call *call, struct pft_watched_call *caller, uint64_t ns, bool unwound);

#endif
