// SPDX-License-Identifier: MIT
// As many.c: bound at load, slots read-only.
// build: -lmany -Wl,-z,now,-z,relro
#include "tests/programs/many.c"
