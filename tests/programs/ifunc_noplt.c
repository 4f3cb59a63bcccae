// SPDX-License-Identifier: MIT
// As ifunc.c: called through a slot that the loader filled with what the resolver chose.
// build: -lifunc -fno-plt
#include "tests/programs/ifunc.c"
