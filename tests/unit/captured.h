// SPDX-License-Identifier: MIT
// What a piece of code writes to descriptor 2, for tests. Called by tests only; a pipe's worth (64 KiB) at
// most.
#ifndef PFT_TESTS_CAPTURED_H
#define PFT_TESTS_CAPTURED_H

// From here on descriptor 2 is a pipe of ours.
void captured_start(void);

// Puts descriptor 2 back. The text is good until the next start.
const char *captured_stop(void);

#endif
