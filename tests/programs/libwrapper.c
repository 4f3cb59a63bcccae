// SPDX-License-Identifier: MIT
// Another preloaded library: wraps puts and leaf, and finds the next definition as such libraries do.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int puts(const char *line)
{
	int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");

	next("wrapped");
	return next(line);
}

void leaf(void)
{
	void (*next)(void) = (void (*)(void))dlsym(RTLD_NEXT, "leaf");

	if (next)
		next();
}
