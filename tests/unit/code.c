// SPDX-License-Identifier: MIT
// Machine code for the tests; see code.h. The stubs are as objdump shows them in linked files.
#include "tests/unit/code.h"

#include <string.h>

const struct code_stub code_stubs[CODE_STUBS] = {
	{"ld", 8, 2, {0xff, 0x25, 0, 0, 0, 0, 0x66, 0x90}},
	{"ld -z bndplt, earlier", 8, 3, {0xf2, 0xff, 0x25, 0, 0, 0, 0, 0x90}},
	{"ld -z ibtplt, earlier", 16, 7,
		{0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0, 0, 0, 0, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
	{"ld -z ibtplt", 16, 6,
		{0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
	{"mold", 16, 6, {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc}},
};

void code_put_displacement(unsigned char *displacement, const void *target, size_t immediate)
{
	int32_t value = (int32_t)((uintptr_t)target - (uintptr_t)(displacement + 4 + immediate));

	memcpy(displacement, &value, sizeof(value));
}

unsigned char *code_put_stub(unsigned char *at, const struct code_stub *stub, const void *slot)
{
	memcpy(at, stub->code, stub->bytes);
	code_put_displacement(at + stub->at, slot, 0);
	return at + stub->at;
}
