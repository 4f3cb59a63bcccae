// SPDX-License-Identifier: MIT
// How a symbol is shown: C++ and Rust names demangled by libiberty, others as they are. Startup and
// flusher context: libiberty's malloc is linked to the arena given here, never to the program's.
#ifndef PFT_DEMANGLE_H
#define PFT_DEMANGLE_H

#include "encoder/base/arena.h"

// The demangled form of `symbol` in the arena, with its parameter list when `parameters` is set; NULL when
// it is not mangled, or is not demangled within bounds. Rust's hash suffix is left out.
const char *pft_demangle(const char *symbol, int parameters, struct pft_arena *arena);

#endif
