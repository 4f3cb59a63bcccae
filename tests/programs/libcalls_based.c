// SPDX-License-Identifier: MIT
// libcalls linked at an address of its own, as prelinked libraries are.
// build: -fexceptions -fno-optimize-sibling-calls -Wl,-z,lazy,-Ttext-segment=0x7000000
#include "tests/programs/libcalls.c"
