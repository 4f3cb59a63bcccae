// SPDX-License-Identifier: MIT
// What an object's code does with GOT slots that hold functions. Startup context, or an app thread after
// dlopen; reads the executable segments and writes nothing.
//
// A slot that only serves `call *slot(%rip)` and `jmp *slot(%rip)` may hold another function. A slot that is
// read as a value may not: its address would compare unequal to the same address taken elsewhere.
//
// No instruction is decoded. Code reaches its GOT by 32-bit displacements from the instruction pointer
// (x86-64 psABI 3.5; the large code model reckons addresses, but then it calls through no slot either), and
// such a displacement stands right behind a ModRM byte of mod 0 and r/m 5. So each byte that may be such a
// ModRM byte is tried. What hits a slot by chance, in data or across instructions, makes it look taken, and
// costs a hook, never an address.
#ifndef PFT_CODE_H
#define PFT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "shim/objects.h"

struct pft_code_use {
	uintptr_t slot; // asked for: its address, a multiple of 8
	uint32_t calls; // calls and jumps through it
	bool taken; // something else refers to it
	unsigned char *stub; // displacement of a PLT stub that jumps through it (stubs.h), or NULL
};

// Fills in `count` uses of the object's slots. Reading ends early when each has a stub and is taken: then
// `calls` is what was seen so far. 0, or -ENOMEM. `arena` is needed during the call only.
int pft_code_read_uses(
	const struct pft_object *object, struct pft_code_use *uses, size_t count, struct pft_arena *arena);

#endif
