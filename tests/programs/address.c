// SPDX-License-Identifier: MIT
// A function has one address in all objects, whatever calls it: each object calls it and takes its address.
// build: -laddress -lcalls
#include "tests/programs/address.h"
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

int main(int argc, char **argv)
{
	long times = argument(argc, argv, 1, 100);
	function *volatile pointer = leaf;

	MUST(pointer == address_of_leaf());
	call_leaf(times);
	call_pointer(pointer, times);
	for (long i = 0; i < times; i++) {
		leaf();
		pointer();
	}
	MUST(pointer == address_of_leaf());
	puts("one address");
	return 0;
}
