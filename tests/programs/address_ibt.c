// SPDX-License-Identifier: MIT
// As address.c: with stubs for indirect branch tracking.
// build: -laddress_ibt -lcalls -fcf-protection -Wl,-z,ibtplt
#include "tests/programs/address.c"
