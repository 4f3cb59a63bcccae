// SPDX-License-Identifier: MIT
// What libFuzzer calls: one target, which the Makefile names in PFT_FUZZ_TARGET.
#include "tests/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	PFT_FUZZ_TARGET(bytes, size);
	return 0;
}
