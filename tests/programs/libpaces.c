// SPDX-License-Identifier: MIT
// Two functions that take as long as they are told to.
#include "tests/programs/common.h"
#include "tests/programs/paces.h"

static void pass(long ns)
{
	uint64_t end_ns = now_ns() + (uint64_t)ns;

	while (now_ns() < end_ns)
		;
}

void steady(long ns)
{
	pass(ns);
}

void changed(long ns)
{
	pass(ns);
}
