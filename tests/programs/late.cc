// SPDX-License-Identifier: MIT
// Hooked calls from constructors, destructors of threads, of the program and of libraries, and from
// atexit handlers: all of them are in the trace. leaf() is called 7 times.
// build: -lends -lcalls
#include "tests/programs/calls.h"
#include "tests/programs/common.h"

extern "C" void ends();

namespace
{
struct Witness {
	const char *name;
	~Witness()
	{
		leaf();
		puts(name);
	}
};

Witness of_program{"static destructor"};

void *thread_body(void *unused)
{
	static thread_local Witness of_thread{"thread_local destructor"};

	(void)&of_thread;
	leaf();
	return unused;
}

void at_exit()
{
	leaf();
	puts("at exit");
}
} // namespace

int main()
{
	atexit(at_exit);
	thread_join(thread_start(thread_body, nullptr));
	ends();
	return 0;
}
