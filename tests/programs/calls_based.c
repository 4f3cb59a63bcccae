// SPDX-License-Identifier: MIT
// As calls.c: with a library that is not linked at 0.
// build: -lcalls_based -Wl,-z,lazy
#include "tests/programs/calls.c"
