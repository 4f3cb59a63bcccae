// SPDX-License-Identifier: MIT
// The list of objects that copy stacks: see copiers.h. Asked at startup, and for each object that is opened.
// The rule: what switches to another stack does not belong here, that is fine.
#include "shim/copiers.h"

#include <stddef.h>

#include "shim/glob.h"

static const char *const table[] = {
	"_greenlet.*so", // Python's greenlet, and what stands on it: gevent, eventlet, SQLAlchemy's asyncio
	"greenlet.*so", // the same before 1.0
	"continuation.so", // Ruby's callcc
};

bool pft_copies_stacks(const char *object)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (pft_glob_match(table[i], object))
			return true;
	return false;
}
