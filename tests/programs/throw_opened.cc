// SPDX-License-Identifier: MIT
// Exceptions out of libraries that were opened, through calls that are recorded.
// build: -D_GNU_SOURCE
#include <dlfcn.h>
#include <stdexcept>

#include "tests/programs/common.h"

namespace
{
using through_function = int(int (*)(void *), void *);

int thrower(void *)
{
	throw std::runtime_error("thrown");
}

// What an exception has skipped is closed when the next call is recorded.
int call_normally()
{
	void *library = dlopen("libopened_plugin.so", RTLD_LAZY);

	MUST(library != nullptr);
	return reinterpret_cast<int (*)(int)>(dlsym(library, "work"))(1);
}

int catch_one()
{
	void *library = dlopen("libopened_plugin.so", RTLD_LAZY);
	int caught = 0;

	MUST(library != nullptr);
	auto through = reinterpret_cast<through_function *>(dlsym(library, "work_through"));
	try {
		through(thrower, nullptr);
	} catch (const std::runtime_error &) {
		caught = 1;
	}
	MUST(dlclose(library) == 0);
	return caught;
}
} // namespace

int main(int argc, char **argv)
{
	long times = argument(argc, argv, 1, 50), caught = 0;

	for (long i = 0; i < times; i++)
		caught += catch_one();
	printf("%ld %d\n", caught, call_normally());
	return 0;
}
