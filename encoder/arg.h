// SPDX-License-Identifier: MIT
// A named value, as events carry them. Any context.
#ifndef PFT_ARG_H
#define PFT_ARG_H

#include <stdint.h>

enum pft_arg_kind {
	PFT_ARG_TEXT,
	PFT_ARG_NUMBER, // a number's text, as JSON has it
	PFT_ARG_UNSIGNED,
	PFT_ARG_SIGNED,
	PFT_ARG_BOOL,
	PFT_ARG_ADDRESS,
};

struct pft_arg {
	const char *name;
	enum pft_arg_kind kind;
	const char *text; // of the first two kinds
	uint64_t number; // of the others
};

#endif
