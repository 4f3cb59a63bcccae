// SPDX-License-Identifier: MIT
// A bare thread in a foreign process: a raw clone with a stack and a TLS block of its own, all signals
// blocked, a file table of its own. The C library does not know of it: __libc_single_threaded stays what it
// was, no thread of the program is counted, no descriptor of ours shows among the program's.
#ifndef PFT_GUEST_H
#define PFT_GUEST_H

#include <stdbool.h>
#include <stdint.h>

// Startup, and in a forked child, where the guest stayed in the parent: `run` is what it shall do. That makes
// raw system calls and calls pure functions only.
void pft_guest_prepare(void (*run)(void));

// It is to run; cheap when it does. Hot context.
void pft_guest_want(void);

// App context, from here on. 0, or -errno when it could not be started: wanting it does nothing more.
int pft_guest_error(void);

// Whether what runs as the guest has a file table of its own: else what it opens is among the program's.
bool pft_guest_is_apart(void);

// Waits up to `ns` for its end. True when it has ended; it does not start again until it is allowed to.
bool pft_guest_join(uint64_t ns);

// Keeps it from starting. True when it does not run; false when it does, and goes on.
bool pft_guest_refuse(void);

// The descriptors of the program's that it shall take along when it starts, PFT_GUEST_KEPT at most. Those
// that are negative are none.
#define PFT_GUEST_KEPT 8
void pft_guest_keep(const int *fds, unsigned count);

// It has been kept from starting, or has ended. Wanting it does start it when thread `id` wants it, which may
// leave what it does by siglongjmp before it could allow it.
void pft_guest_leave_to(uint32_t id);
bool pft_guest_is_left(void);

// Whether that has happened. True once; asked by the guest when it starts.
bool pft_guest_was_left(void);

// Wanting it starts it (again), whoever does.
void pft_guest_allow(void);

#endif
