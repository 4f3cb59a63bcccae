// SPDX-License-Identifier: MIT
// A hooked library function calls back into the program, which calls hooked functions.
// build: -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static long compared;

static int compare(const void *a, const void *b)
{
	leaf();
	compared++;
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int main(void)
{
	int numbers[1000];

	for (int i = 0; i < 1000; i++)
		numbers[i] = i * 7919 % 1000;
	qsort(numbers, 1000, sizeof(int), compare);
	for (int i = 0; i < 1000; i++)
		MUST(numbers[i] == i);
	printf("%ld\n", compared);
	return 0;
}
