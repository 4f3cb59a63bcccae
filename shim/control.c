// SPDX-License-Identifier: MIT
// Requests and answers: see control.h. Flusher context. The rule: `answered` is stored last; who finds it
// finds the answer.
#include "shim/control.h"

#include <limits.h>
#include <linux/futex.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/replay.h"
#include "encoder/session.h"
#include "shim/hot/self.h"

void pft_control_attend(bool attends)
{
	__atomic_store_n(&pft_session->flusher_runs, attends, __ATOMIC_RELEASE);
}

bool pft_control_is_asked(void)
{
	return pft_control_asked().request != 0;
}

struct pft_asked pft_control_asked(void)
{
	const struct pft_control *control = &pft_session->control;
	struct pft_asked asked = {.request = __atomic_load_n(&control->request, __ATOMIC_SEQ_CST)};

	if (asked.request == __atomic_load_n(&control->answered, __ATOMIC_RELAXED))
		return (struct pft_asked){0};
	asked.command = __atomic_load_n(&control->command, __ATOMIC_RELAXED);
	return asked;
}

void pft_control_answer(const struct pft_asked *asked, const struct pft_replay *replay, int result)
{
	struct pft_control *control = &pft_session->control;
	struct pft_totals totals = pft_replay_totals(replay);

	control->produced = totals.produced;
	control->written = totals.written;
	control->filtered = totals.filtered;
	control->dropped = totals.dropped;
	control->trace_bytes = pft_replay_trace_bytes(replay);
	control->result = result;
	__atomic_store_n(&control->answered, asked->request, __ATOMIC_RELEASE);
	pft_sys_futex(&control->answered, FUTEX_WAKE, INT_MAX, NULL);
}
