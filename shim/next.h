// SPDX-License-Identifier: MIT
// The next definitions of the functions that we interpose: what dlsym(RTLD_NEXT) would find, read from the
// loader's list, so no loader lock is taken and a second preload behind us is honoured. They are all looked
// up at startup: later, a system call could be one too many (seccomp) or memory out of reach (vfork).
#ifndef PFT_NEXT_H
#define PFT_NEXT_H

#include "shim/objects.h"

// clang-format off
// Each function of exports.map that has a next one, but for _exit and _Exit, which end here, and those of
// loader.c.
#define PFT_INTERPOSED(X) \
	X(pthread_create) \
	X(fork) X(_Fork) X(daemon) \
	X(execve) X(execvpe) X(fexecve) X(execveat) X(posix_spawn) X(posix_spawnp) \
	X(setuid) X(setgid) X(seteuid) X(setegid) X(setreuid) X(setregid) X(setresuid) X(setresgid) \
	X(setgroups) X(initgroups) X(capset) X(chroot) \
	X(unshare) X(setns) X(prctl) X(syscall) \
	X(stat) X(stat64) X(fstatat) X(fstatat64)
// clang-format on

#define PFT_NEXT_NUMBER(name) PFT_NEXT_##name,
enum pft_next { PFT_INTERPOSED(PFT_NEXT_NUMBER) PFT_NEXT_COUNT };

// Startup: looks all of them up.
void pft_next_start(const struct pft_objects *objects);

// The next definition of a function by its number. Any context but hot. Looks all of them up when somebody
// calls before our startup. NULL for a function that this C library does not have.
void *pft_next(enum pft_next number);

#endif
