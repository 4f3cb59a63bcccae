// SPDX-License-Identifier: MIT
// Calls out of templates, lambdas and a handler of an exception that has passed through recorded calls.
// build: -fno-optimize-sibling-calls -lcalls
#include <cstdio>
#include <stdexcept>

#include "tests/programs/calls.h"

namespace shapes
{

template <typename T, int N> struct Box {
	__attribute__((noinline)) T call(T x)
	{
		leaf();
		return x + N;
	}
};

} // namespace shapes

static int throws(void *)
{
	throw std::runtime_error("thrown");
}

__attribute__((noinline)) int catches()
{
	try {
		return through(throws, nullptr);
	} catch (const std::runtime_error &) {
		leaf();
	}
	return 1;
}

int main()
{
	shapes::Box<long, 3> box;

	std::printf("%ld %d\n", box.call(4), catches());
	return 0;
}
