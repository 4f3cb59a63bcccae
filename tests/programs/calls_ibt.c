// SPDX-License-Identifier: MIT
// As calls.c: with a PLT for indirect branch tracking.
// build: -lcalls_ibt -fcf-protection -Wl,-z,lazy,-z,ibtplt
#include "tests/programs/calls.c"
