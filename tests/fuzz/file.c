// SPDX-License-Identifier: MIT
// What all targets use: see targets.h.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/targets.h"

int pft_fuzz_file(const void *bytes, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	pft_fuzz_expect(
		fd >= 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size, "a file in memory can be made");
	return fd;
}

void pft_fuzz_expect(bool condition, const char *promise)
{
	if (condition)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}
