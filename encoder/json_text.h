// SPDX-License-Identifier: MIT
// The words of JSON: strings, microseconds, named values. Called by json.c. Flusher context; pure. The rule:
// what comes out is JSON whatever goes in, and short enough that an event with all that it can hold fits the
// buffer.
#ifndef PFT_JSON_TEXT_H
#define PFT_JSON_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/arg.h"
#include "encoder/base/text.h"

// The longest string, quotes and escapes included; longer ones are cut at a character's end.
#define PFT_JSON_STRING_MAX 8192

// The longest list of values.
#define PFT_JSON_ARGS_MAX 16384
#define PFT_JSON_ARG_COUNT_MAX 1000

// In quotes. A byte that belongs to no character becomes U+FFFD. It may stand in an element of a page.
void pft_json_add_string(struct pft_text *text, const char *string);

// Nanoseconds as microseconds with three decimals.
void pft_json_add_micros(struct pft_text *text, uint64_t ns);

// "name":value,... without the braces. What does not fit PFT_JSON_ARGS_MAX, and all behind the first
// PFT_JSON_ARG_COUNT_MAX, are left out. An address is a text: JSON has no notation for it.
void pft_json_add_args(struct pft_text *text, const struct pft_arg *args, size_t count);

#endif
