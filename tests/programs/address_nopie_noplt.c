// SPDX-License-Identifier: MIT
// As address_nopie.c: the library calls through the slot that leads to the program's PLT stub.
// build: -laddress_noplt -lcalls -fno-pie -no-pie
#include "tests/programs/address.c"
