// SPDX-License-Identifier: MIT
// The other half of libtail_a.
// build: -foptimize-sibling-calls
#include <stdint.h>

uintptr_t tail_a(long n);

uintptr_t tail_b(long n)
{
	return n ? tail_a(n - 1) : (uintptr_t)__builtin_frame_address(0);
}
