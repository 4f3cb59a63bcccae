// SPDX-License-Identifier: MIT
// Texts for a trace: strings of protobuf must be valid UTF-8, names in a process may be anything. Called
// before a text from outside goes into a packet. Flusher context; pure.
#ifndef PFT_UTF8_H
#define PFT_UTF8_H

#include <stddef.h>

// Copies `from` into the `room` bytes at `to` and ends it with NUL. A byte that belongs to no character
// becomes U+FFFD, so `to` may need three times the size of `from`; what does not fit is cut between two
// characters. `room` is at least 1. Returns the length.
size_t pft_utf8_clean(char *to, size_t room, const char *from);

// Length of the character that begins at `text`, or 0 when none does. Nothing behind the final NUL is read.
size_t pft_utf8_character(const char *text);

// What stands for a byte that belongs to no character.
#define PFT_UTF8_REPLACEMENT "\xef\xbf\xbd" // U+FFFD

#endif
