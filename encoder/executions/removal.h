// SPDX-License-Identifier: MIT
// Removing executions. Called by clean.c. An ordinary program's context. The rule: only what pft made for
// this user goes, and only when all of an execution may go; no link is followed but one to a session that the
// execution's own process left in memory.
#ifndef PFT_EXECUTIONS_REMOVAL_H
#define PFT_EXECUTIONS_REMOVAL_H

#include <stddef.h>

#include "encoder/executions/list.h"

// Why the execution stays, as a phrase in `room`; or NULL: it may be removed.
const char *pft_removal_refusal(const struct pft_execution *execution, char *room, size_t size);

// Removes its files, what its killed processes left in memory, and its directory. 0 or -errno; -ENOTEMPTY: a
// file came into it meanwhile, and stays.
int pft_removal_remove(const struct pft_executions *executions, const struct pft_execution *execution);

// Where `latest` leads to an execution that is gone, it leads to the one of the rest that was written last;
// it goes when there is none.
int pft_removal_repair_latest(const struct pft_executions *executions);

#endif
