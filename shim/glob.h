// SPDX-License-Identifier: MIT
// Globs over bytes, without locale: `*` any text, `?` any byte, `[a-z_]` one of a set, `[!x]` one that is not
// in it, and a backslash takes the next character as it is, also within a set. Pure; every context. select.c
// asks for each symbol; time is at worst the product of both lengths, and nothing recurses.
#ifndef PFT_GLOB_H
#define PFT_GLOB_H

#include <stdbool.h>

// What is wrong with the glob, as words that follow its text, or NULL. Only a glob that passed may be
// matched.
const char *pft_glob_error(const char *glob);

// False when the glob means one text only.
bool pft_glob_has_wildcard(const char *glob);

// Takes the backslashes out of a glob without wildcards, in place: it can be compared then.
void pft_glob_unescape(char *glob);

bool pft_glob_match(const char *glob, const char *text);

#endif
