// SPDX-License-Identifier: MIT
// What dlerror says, word for word, and when it says nothing.
// build: -D_GNU_SOURCE -lcalls
#include <dlfcn.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static void say(const char *what, const void *result)
{
	const char *error = dlerror();

	printf("%s: %s, %s\n", what, result ? "found" : "nothing", error ? error : "no error");
}

static void open_what_cannot_be(void)
{
	say("missing", dlopen("libnobody_has_this.so", RTLD_LAZY));
	say("missing path", dlopen("/nowhere/libcalls.so", RTLD_NOW));
	say("no library", dlopen("/etc/passwd", RTLD_LAZY));
	say("no mode", dlopen("libcalls.so", 0));
	say("not loaded", dlopen("libopened_twin_a.so", RTLD_LAZY | RTLD_NOLOAD));
	say("the program elsewhere", dlmopen(LM_ID_NEWLM, NULL, RTLD_LAZY));
	say("global elsewhere", dlmopen(LM_ID_NEWLM, "libcalls.so", RTLD_LAZY | RTLD_GLOBAL));
}

static void look_up(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	void *library = dlopen("libcalls.so", RTLD_LAZY);

	say("the program", program);
	say("a function by the program", dlsym(program, "leaf"));
	say("by the library", dlsym(library, "leaf"));
	say("by its version", dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5"));
	say("by no version", dlvsym(RTLD_DEFAULT, "puts", "PUTS_9"));
	say("by nobody", dlsym(library, "nobody_has_this"));
	say("next of the program", dlsym(RTLD_NEXT, "leaf"));
	MUST(dlsym(RTLD_DEFAULT, "leaf") == (void *)leaf);
	MUST(dlsym(library, "outer") == (void *)outer);
	MUST(dlclose(library) == 0 && dlclose(program) == 0);
	say("closed", NULL);
}

int main(void)
{
	MUST(inner(1) == 2);
	open_what_cannot_be();
	look_up();
	// One that is not asked for is forgotten by what comes next.
	dlopen("libnobody_has_this.so", RTLD_LAZY);
	say("after a failure", dlsym(RTLD_DEFAULT, "leaf"));
	return 0;
}
