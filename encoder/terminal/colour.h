// SPDX-License-Identifier: MIT
// Whether what a program writes may be coloured, and the few colours that there are. Called by the programs
// beside the library. An ordinary program's context. The rule: who reads by a program, or asked for none by
// NO_COLOR, sees no escape sequence.
#ifndef PFT_TERMINAL_COLOUR_H
#define PFT_TERMINAL_COLOUR_H

#include <stdbool.h>

#define PFT_COLOUR_HEADING "\033[1m"
#define PFT_COLOUR_GOOD "\033[32m"
#define PFT_COLOUR_WARNING "\033[33m"
#define PFT_COLOUR_ALARM "\033[31m"
#define PFT_COLOUR_END "\033[0m"

// `fd` is a terminal that knows colours, and NO_COLOR is unset or empty (no-color.org).
bool pft_colour_wanted(int fd);

#endif
