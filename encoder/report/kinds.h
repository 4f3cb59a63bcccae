// SPDX-License-Identifier: MIT
// What a function does to the thread that calls it, told by its name: the one table that says which functions
// lock, wait, sleep or do input and output. Called by summary.c. Any context; pure.
#ifndef PFT_KINDS_H
#define PFT_KINDS_H

#include <stdbool.h>

enum pft_kind {
	PFT_KIND_OTHER,
	PFT_KIND_LOCK, // takes a lock: long when somebody else holds it
	PFT_KIND_WAIT, // waits for another thread, process or event
	PFT_KIND_SLEEP, // lets time pass
	PFT_KIND_IO, // may wait for a device or a peer
	PFT_KIND_RECORDER, // the recorder's own: the thread waits for room in its ring
};

// `name` as traces show it: `object::function` or `function`.
enum pft_kind pft_kind_of(const char *name);

const char *pft_kind_name(enum pft_kind kind);

// Whether a thread inside of a long call of that kind is not running.
static inline bool pft_kind_is_waiting(enum pft_kind kind)
{
	return kind != PFT_KIND_OTHER;
}

#endif
