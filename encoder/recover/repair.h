// SPDX-License-Identifier: MIT
// A trace without a session is cut where its last whole packet ends. Called by job.c. An ordinary program's
// context.
#ifndef PFT_RECOVER_REPAIR_H
#define PFT_RECOVER_REPAIR_H

#include "encoder/recover/job.h"

// `fd`: the trace, open for reading. `asked` as for a job.
enum pft_answer pft_repair(const char *path, int fd, bool asked);

#endif
