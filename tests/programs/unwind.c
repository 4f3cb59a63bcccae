// SPDX-License-Identifier: MIT
// nongnu libunwind walks from inside hooked frames to main.
// build: -lcalls -lunwind
#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

static int look(void *unused)
{
	unw_context_t context;
	unw_cursor_t cursor;
	char name[128];
	unw_word_t offset;

	(void)unused;
	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	do {
		if (unw_get_proc_name(&cursor, name, sizeof(name), &offset) == 0 &&
			(strcmp(name, "main") == 0 || strncmp(name, "through", 7) == 0))
			puts(name);
	} while (unw_step(&cursor) > 0);
	return 0;
}

static int deeper(void *context)
{
	return through_again(look, context) + 1;
}

int main(void)
{
	printf("%d\n", through(deeper, NULL));
	return 0;
}
