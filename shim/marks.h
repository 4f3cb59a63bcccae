// SPDX-License-Identifier: MIT
// Which hooks' functions the settings name beyond recording them: PFT_START and PFT_STOP by a function's
// call, and PFT_TRIGGER. Startup context, and whoever adds hooks later.
#ifndef PFT_MARKS_H
#define PFT_MARKS_H

#include <stdint.h>

#include "encoder/base/arena.h"
#include "shim/settings.h"

// Settings and arena stay in use. 0, or -EINVAL after one line on stderr.
int pft_marks_start(const struct pft_settings *settings, struct pft_arena *arena);

// Before hook `id` of that function is in place. `object` may be NULL.
void pft_marks_set(uint32_t id, const char *symbol, const char *object);

#endif
