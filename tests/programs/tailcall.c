// SPDX-License-Identifier: MIT
// A hooked function that jumps into another hooked function takes no stack, millions of times.
// build: -ltail_a -ltail_b
#include "tests/programs/common.h"

uintptr_t tail_a(long n);

int main(int argc, char **argv)
{
	long depth = argument(argc, argv, 1, 1000);
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	uintptr_t deepest = tail_a(depth);

	puts(here - deepest < 8192 ? "the stack is as it was" : "the stack has grown");
	return 0;
}
