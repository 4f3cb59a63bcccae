// SPDX-License-Identifier: MIT
// Selectors: which functions the user means. Startup context. Settings text and names in, a verdict out.
//
//   selector: [-] symbol-glob [ @ object-glob ]     separated by commas or newlines; blanks are ignored
//   @FILE reads selectors from a file, where # begins a comment
//
// Globs know *, ? and [...] (see glob.h); a backslash takes the next character as it is, so `\,` and `\@`
// belong to a name, as a comma between parentheses does. A symbol is matched mangled and demangled (C++,
// Rust; with and without its parameter list). The last selector that matches decides, so exclusions and
// exceptions read top down.
#ifndef PFT_SELECT_H
#define PFT_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "encoder/base/arena.h"

struct pft_selection;

enum pft_verdict { PFT_UNSELECTED, PFT_SELECTED, PFT_EXCLUDED };

// Parses `text` (NULL: selects nothing). NULL after one line on stderr that names the selector, what is
// wrong with it and what is accepted (a bad glob, a file that cannot be read), or when out of memory.
struct pft_selection *pft_selection_parse(const char *text, struct pft_arena *arena);

// `object` may be NULL when it is not known: only selectors without an object (or with @*) match then.
enum pft_verdict pft_selection_match(
	const struct pft_selection *selection, const char *symbol, const char *object);

// Whether the selector that decides names this very symbol: what the user then does not get, he is told.
bool pft_selection_names(const struct pft_selection *selection, const char *symbol, const char *object);

// Why a function is never diverted, as words that complete "left alone: it ...", or NULL (see never.c).
const char *pft_never_divert(const char *symbol);

// In dev mode: a short pure function (mem*, str*, ctype and the like) that is left out unless it is selected.
bool pft_dev_leaves_out(const char *symbol);

#endif
