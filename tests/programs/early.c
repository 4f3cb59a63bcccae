// SPDX-License-Identifier: MIT
// A thread that a library's constructor starts before main is recorded.
// build: -learly -lcalls
#include "tests/programs/common.h"

extern int early_calls;

int main(void)
{
	printf("%d\n", early_calls);
	return 0;
}
