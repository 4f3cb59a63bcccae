// SPDX-License-Identifier: MIT
// Functions that are chosen at binding (IFUNC) are called and recorded like others.
// build: -lifunc
#include "tests/programs/common.h"

int picks(int x);

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += picks(i);
	printf("%d\n", sum);
	return 0;
}
