// SPDX-License-Identifier: MIT
// As calls.c: without a PLT.
// build: -lcalls_noplt -fno-plt
#include "tests/programs/calls.c"
