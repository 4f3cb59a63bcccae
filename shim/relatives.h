// SPDX-License-Identifier: MIT
// Who this process comes from, as far as they record: read from the sessions in /dev/shm that carry their
// pids, which works behind our back as well (system, popen). Startup context, and hot in a forked child: raw
// system calls, static buffers.
#ifndef PFT_RELATIVES_H
#define PFT_RELATIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "encoder/session.h"

// The name that session `number` of a process has in /dev/shm.
void pft_relatives_name(char *path, size_t size, uint32_t pid, unsigned number);

// The nearest ancestor that records. False, and `parent` is empty, when there is none in sight.
bool pft_relatives_parent(struct pft_relative *parent);

// Whoever has our pid and says it is finished was this very process, before exec: fills `before` with it and
// `parent` with its parent, and removes what it left. False, and nothing is changed, when there is none.
bool pft_relatives_before(struct pft_relative *before, struct pft_relative *parent);

// The process of `session`, which goes by its own name.
void pft_relatives_of(struct pft_relative *relative, const struct pft_session *session);

// The pid of this process in the namespace that /proc belongs to, where that is an outer one; else 0.
uint32_t pft_relatives_outer_pid(void);

#endif
