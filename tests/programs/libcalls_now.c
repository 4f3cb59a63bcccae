// SPDX-License-Identifier: MIT
// libcalls with every slot bound at load and read-only afterwards.
// build: -fexceptions -fno-optimize-sibling-calls -Wl,-z,now,-z,relro
#include "tests/programs/libcalls.c"
