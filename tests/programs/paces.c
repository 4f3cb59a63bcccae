// SPDX-License-Identifier: MIT
// A program of which one function may take longer than in another run: paces CALLS STEADY_NS CHANGED_NS. A
// function of 0 ns is never called.
// build: -lpaces
#include "tests/programs/common.h"
#include "tests/programs/paces.h"

int main(int argc, char **argv)
{
	long calls = argument(argc, argv, 1, 1000);
	long steady_ns = argument(argc, argv, 2, 0);
	long changed_ns = argument(argc, argv, 3, 0);

	while (calls-- > 0) {
		if (steady_ns)
			steady(steady_ns);
		if (changed_ns)
			changed(changed_ns);
	}
	return 0;
}
