// SPDX-License-Identifier: MIT
// An exception goes through hooked frames as if they were not there: destructors run in order, a rethrow
// and a catch inside a hooked function work.
// build: -lcalls
#include <stdexcept>
#include <string>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

namespace
{
struct Witness {
	const char *name;
	~Witness()
	{
		leaf();
		printf("left %s\n", name);
	}
};

int throws(void *what)
{
	Witness witness{"throws"};
	leaf();
	throw std::runtime_error(static_cast<const char *>(what));
}

int third(void *what)
{
	Witness witness{"third"};
	return through_third(throws, what);
}

int second(void *what)
{
	Witness witness{"second"};
	try {
		return through_again(third, what);
	} catch (const std::exception &error) {
		printf("again %s\n", error.what());
		throw;
	}
}

int catches_inside(void *what)
{
	try {
		return through_again(throws, what);
	} catch (const std::exception &error) {
		printf("inside %s\n", error.what());
		return 40;
	}
}
} // namespace

int main()
{
	try {
		through(second, const_cast<char *>("first"));
		puts("not reached");
	} catch (const std::exception &error) {
		printf("caught %s\n", error.what());
	}
	printf("%d\n", through(catches_inside, const_cast<char *>("second")));
	printf("%d\n", outer(1));
	return 0;
}
