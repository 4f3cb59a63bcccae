// SPDX-License-Identifier: MIT
// Exported functions whose calls among each other go through the library's PLT, lazily bound.
// build: -fexceptions -fno-optimize-sibling-calls -Wl,-z,lazy
#include "tests/programs/calls.h"

void leaf(void)
{
	__asm__ volatile("");
}

int inner(int x)
{
	return x + 1;
}

int middle(int x)
{
	return inner(x) + 1;
}

int outer(int x)
{
	return middle(x) + 1;
}

int through(int (*callback)(void *), void *context)
{
	return callback(context) + 1;
}

int through_again(int (*callback)(void *), void *context)
{
	return callback(context) + 1;
}

int through_third(int (*callback)(void *), void *context)
{
	return callback(context) + 1;
}

long recurse(long n)
{
	return n ? n + recurse_further(n - 1) : 0;
}

long recurse_further(long n)
{
	return n ? n + recurse(n - 1) : 0;
}
