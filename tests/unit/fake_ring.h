// SPDX-License-Identifier: MIT
// The recording side of a ring, without a thread: for tests of what reads one. Called by unit tests. Like the
// shim's, it writes a record's position last, and counts slots that are no event of their own.
#ifndef PFT_TEST_FAKE_RING_H
#define PFT_TEST_FAKE_RING_H

#include <stdint.h>

#include "encoder/session.h"
#include "tests/unit/fake_session.h"

struct pft_fake_ring {
	struct pft_session *session;
	struct pft_session_thread *thread;
	uint32_t index;
	uint32_t head;
};

// A live thread of entry `index`, which begins at ring position `begin_at`.
struct pft_fake_ring pft_fake_ring(
	struct pft_session *session, uint32_t index, uint32_t tid, const char *name, uint32_t begin_at);

// Times are nanoseconds of CLOCK_BOOTTIME after the session's start.
void pft_fake_begin(struct pft_fake_ring *ring, uint64_t ns, uint32_t id);
void pft_fake_end(struct pft_fake_ring *ring, uint64_t ns);
void pft_fake_unwound(struct pft_fake_ring *ring, uint64_t ns);
void pft_fake_gap(struct pft_fake_ring *ring, uint64_t ns, uint64_t dropped, uint32_t depth);
void pft_fake_pause(struct pft_fake_ring *ring, uint64_t ns, uint32_t depth);

// On a stack that is not the thread's own.
void pft_fake_foreign_begin(struct pft_fake_ring *ring, uint64_t ns, uint32_t id, uint64_t slot);
void pft_fake_foreign_end(struct pft_fake_ring *ring, uint64_t ns, uint64_t slot);
void pft_fake_foreign_unwound(struct pft_fake_ring *ring, uint64_t ns, uint64_t slot);
// The same of a turn other than 1.
void pft_fake_foreign(struct pft_fake_ring *ring, uint64_t ns, uint32_t what, uint64_t slot, uint32_t turn);

// The event just recorded knows where it came from.
void pft_fake_came_from(struct pft_fake_ring *ring, uint32_t frame);

// The thread ends at `ns`.
void pft_fake_exit(struct pft_fake_ring *ring, uint64_t ns);

#endif
