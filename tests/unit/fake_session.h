// SPDX-License-Identifier: MIT
// A small session in private memory, laid out as the shim lays out its own: for tests of what reads one.
// Called by unit tests. It starts in dev mode, with pid, clocks, process name and command line filled in;
// a test changes the header's fields as it likes, but those that say where the tables are.
#ifndef PFT_TEST_FAKE_SESSION_H
#define PFT_TEST_FAKE_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/session.h"
#include "encoder/trace.h"

// Ends the test when there is no memory. `ring_bytes` is a power of two.
struct pft_session *pft_fake_session(uint64_t ring_bytes, uint32_t threads_max);

// Adds a hook and returns its id, from PFT_HOOK_FIRST on. Either name may be NULL: none.
uint32_t pft_fake_hook(struct pft_session *session, const char *object, const char *symbol);

// What all clocks show `ns` nanoseconds after the session's start.
struct pft_clocks pft_fake_clocks(const struct pft_session *session, uint64_t ns);

// Makes entry `index` a live thread that begins at ring position 0.
struct pft_session_thread *pft_fake_thread(
	struct pft_session *session, uint32_t index, uint32_t tid, const char *name);

// Adds an object that is mapped at `start`, for a page, as linked at 0. `path` must be given.
uint32_t pft_fake_mapping(struct pft_session *session, const char *path, uint64_t start);

// Adds a frame at `address` in that mapping, called by the frame `caller` (0: outermost); returns its number.
uint32_t pft_fake_frame(struct pft_session *session, uint32_t mapping, uint64_t address, uint32_t caller);

void pft_fake_free(struct pft_session *session);

#endif
