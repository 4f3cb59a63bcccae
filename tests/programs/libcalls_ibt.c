// SPDX-License-Identifier: MIT
// libcalls with a PLT for indirect branch tracking: the slots belong to .plt.sec, the lazy way to .plt.
// build: -fexceptions -fno-optimize-sibling-calls -fcf-protection -Wl,-z,lazy,-z,ibtplt
#include "tests/programs/libcalls.c"
