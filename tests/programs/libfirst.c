// SPDX-License-Identifier: MIT
// Another preloaded library that wants to be initialised before all others, of which the loader grants one.
// build: -Wl,-z,initfirst
#include <unistd.h>

static volatile pid_t process;

__attribute__((constructor)) static void start(void)
{
	process = getpid();
}

__attribute__((destructor)) static void end(void)
{
	if (process != getpid())
		_exit(99);
}
