// SPDX-License-Identifier: MIT
// Machine code for the tests: PLT stubs, as linkers write them.
#ifndef PFT_TESTS_CODE_H
#define PFT_TESTS_CODE_H

#include <stddef.h>
#include <stdint.h>

struct code_stub {
	const char *linker;
	size_t bytes; // of the stub, and its alignment
	size_t at; // of the displacement in it
	unsigned char code[16];
};

#define CODE_STUBS 5
extern const struct code_stub code_stubs[CODE_STUBS];

// Writes the displacement of an instruction with `immediate` bytes behind it, so that it leads to `target`.
void code_put_displacement(unsigned char *displacement, const void *target, size_t immediate);

// Writes a stub that jumps by way of `slot`. Returns where its displacement is.
unsigned char *code_put_stub(unsigned char *at, const struct code_stub *stub, const void *slot);

#endif
