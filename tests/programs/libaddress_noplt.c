// SPDX-License-Identifier: MIT
// libaddress without stubs: it calls through the slot that it also reads the address from.
// build: -fno-plt
#include "tests/programs/libaddress.c"
