// SPDX-License-Identifier: MIT
// Values of options that several programs on the encoder's floor take. Included by their main files alone. A
// value that is none ends the program with one line.
#ifndef PFT_OPTIONS_H
#define PFT_OPTIONS_H

#include <stdint.h>
#include <stdlib.h>

#include "encoder/fail.h"

// How many rows a table shall have at most.
static inline uint32_t pft_rows_named(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || number == 0 || number > 1000000)
		pft_fail(PFT_REFUSED, "--rows=%s: is not a number from 1 to 1000000", text);
	return (uint32_t)number;
}

#endif
