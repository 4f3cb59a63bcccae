// SPDX-License-Identifier: MIT
// Opens a library whose coroutines copy their stacks, and lets two of them rest in hooked calls that were
// made from different places: copies LIBRARY.
// build: -lcalls -ldl
#include "tests/programs/copies.h"

#include <dlfcn.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

#define ROUNDS 5

static void (*go_on)(struct copy *copy);
static void (*rest)(void);

static int rests(void *me)
{
	int number = ((struct copy *)me)->number;

	for (int i = 0; i < ROUNDS; i++) {
		printf("%d in round %d: %d\n", number, i, outer(i));
		rest();
	}
	return number;
}

static void first(struct copy *me)
{
	printf("first ends with %d\n", through(rests, me));
}

static void second(struct copy *me)
{
	leaf();
	printf("second ends with %d\n", through(rests, me) + 10);
}

static int switches(void *library)
{
	static struct copy copies[] = {{.body = first, .number = 1}, {.body = second, .number = 2}};
	void *handle = dlopen(library, RTLD_NOW);

	MUST(handle);
	*(void **)&go_on = dlsym(handle, "copies_go_on");
	*(void **)&rest = dlsym(handle, "copies_rest");
	for (int i = 0; !copies[0].is_over || !copies[1].is_over; i = 1 - i)
		if (!copies[i].is_over)
			go_on(&copies[i]);
	return 0;
}

int main(int argc, char **argv)
{
	MUST(argc == 2);
	printf("%d\n", outer(1));
	printf("%d\n", through_again(switches, argv[1]));
	return 0;
}
