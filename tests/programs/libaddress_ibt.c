// SPDX-License-Identifier: MIT
// libaddress with stubs for indirect branch tracking.
// build: -fcf-protection -Wl,-z,ibtplt
#include "tests/programs/libaddress.c"
