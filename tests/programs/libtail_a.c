// SPDX-License-Identifier: MIT
// Half of a mutual tail recursion across two objects: both calls are jumps through a PLT.
// build: -foptimize-sibling-calls
#include <stdint.h>

uintptr_t tail_b(long n);

uintptr_t tail_a(long n)
{
	return n ? tail_b(n - 1) : (uintptr_t)__builtin_frame_address(0);
}
