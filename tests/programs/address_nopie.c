// SPDX-License-Identifier: MIT
// As address.c: at a fixed address, so that the program's PLT stub is the function's address in all objects.
// build: -laddress -lcalls -fno-pie -no-pie
#include "tests/programs/address.c"
