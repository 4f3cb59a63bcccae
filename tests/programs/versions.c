// SPDX-License-Identifier: MIT
// Each caller reaches the version of a symbol that it is bound to: the old memcpy may overlap.
// build: -fno-builtin
#include "tests/programs/common.h"

void *old_memcpy(void *to, const void *from, size_t bytes);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");

int main(void)
{
	char text[64] = "abcdefghijklmnopqrstuvwxyz", copy[64];

	for (int i = 0; i < 100; i++)
		memcpy(copy, text, sizeof(copy));
	old_memcpy(text + 1, text, 26);
	printf("%s %s\n", text, copy);
	return 0;
}
