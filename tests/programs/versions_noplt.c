// SPDX-License-Identifier: MIT
// As versions.c: called through GOT slots that the loader fills as data.
// build: -fno-builtin -fno-plt
#include "tests/programs/versions.c"
