// SPDX-License-Identifier: MIT
// Calls a function of another library and takes its address: the call goes by a .plt.got stub.
#include "tests/programs/address.h"
#include "tests/programs/calls.h"

void call_leaf(long times)
{
	for (long i = 0; i < times; i++)
		leaf();
}

function *address_of_leaf(void)
{
	return leaf;
}

void call_pointer(function *volatile pointer, long times)
{
	for (long i = 0; i < times; i++)
		pointer();
}
