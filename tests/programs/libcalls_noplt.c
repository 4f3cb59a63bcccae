// SPDX-License-Identifier: MIT
// libcalls calling through GOT slots that the loader fills as data: there is no PLT.
// build: -fexceptions -fno-optimize-sibling-calls -fno-plt
#include "tests/programs/libcalls.c"
