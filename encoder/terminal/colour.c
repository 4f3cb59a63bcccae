// SPDX-License-Identifier: MIT
// Asks the terminal and the environment: see colour.h.
#include "encoder/terminal/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool pft_colour_wanted(int fd)
{
	const char *none = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");

	return isatty(fd) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}
