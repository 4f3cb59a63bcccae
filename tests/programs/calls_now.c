// SPDX-License-Identifier: MIT
// As calls.c: bound at load, slots read-only.
// build: -lcalls_now -Wl,-z,now,-z,relro
#include "tests/programs/calls.c"
