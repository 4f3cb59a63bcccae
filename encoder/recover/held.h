// SPDX-License-Identifier: MIT
// Whether anybody may still write to a file. Called by job.c. An ordinary program's context. The answer is
// the kernel's: a lease for reading is granted only while nobody has the file open for writing, and who has
// mapped it that way has it open, in whatever namespace he lives.
#ifndef PFT_RECOVER_HELD_H
#define PFT_RECOVER_HELD_H

#include <stdint.h>

enum pft_held {
	PFT_HELD_BY_NOBODY,
	PFT_HELD_BY_WRITER,
	PFT_HELD_UNKNOWN, // the file system grants no leases, or not to us
};

// `fd` is open for reading only. The lease is given back at once.
enum pft_held pft_held(int fd);

#endif
