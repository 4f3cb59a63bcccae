// SPDX-License-Identifier: MIT
// As address.c: without stubs.
// build: -laddress_noplt -lcalls -fno-plt
#include "tests/programs/address.c"
