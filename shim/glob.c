// SPDX-License-Identifier: MIT
// The glob matcher. Called by select.c and never.c at startup. Pure.
// A star is first taken as empty; on a mismatch the last star takes one byte more and matching goes on behind
// it. Earlier stars never need to be looked at again, since the last one can stand for all that they could.
#include "shim/glob.h"

#include <stddef.h>

// The byte that a set or glob means at `at`, and where the next one begins.
static unsigned char literal(const char **at)
{
	if (**at == '\\')
		++*at;
	return (unsigned char)*(*at)++;
}

// A `]` that comes first is a member, so the end is looked for behind it.
static bool set_ends(const char *at, const char *first)
{
	return *at == ']' && at != first;
}

// Takes the set behind a `[` and says whether it holds `byte`.
static bool set_takes(const char **glob, unsigned char byte)
{
	const char *at = *glob;
	bool negated = *at == '!' || *at == '^';
	bool found = false;
	const char *first = at += negated;

	while (!set_ends(at, first)) {
		unsigned char low = literal(&at), high = low;

		if (*at == '-' && at[1] != ']') {
			at++;
			high = literal(&at);
		}
		found |= low <= byte && byte <= high;
	}
	*glob = at + 1;
	return found != negated;
}

// Takes one element of the glob, no star, and says whether it stands for `byte`.
static bool element_takes(const char **glob, unsigned char byte)
{
	switch (**glob) {
	case '?':
		++*glob;
		return true;
	case '[':
		++*glob;
		return set_takes(glob, byte);
	case '\0':
		return false;
	default:
		return literal(glob) == byte;
	}
}

bool pft_glob_match(const char *glob, const char *text)
{
	const char *star = NULL; // what follows the last star
	const char *behind = NULL; // the text behind what that star has taken

	for (;;) {
		if (*glob == '*') {
			star = ++glob;
			behind = text;
			if (*glob == '\0')
				return true;
		} else if (*text == '\0') {
			return *glob == '\0';
		} else if (element_takes(&glob, (unsigned char)*text)) {
			text++;
		} else if (star) {
			glob = star;
			text = ++behind;
		} else {
			return false;
		}
	}
}

// The end of the set behind a `[`, or NULL when it is not closed.
static const char *set_end(const char *at)
{
	const char *first = at += *at == '!' || *at == '^';

	while (!set_ends(at, first)) {
		if (*at == '\\')
			at++;
		if (*at == '\0')
			return NULL;
		at++;
	}
	return at;
}

const char *pft_glob_error(const char *glob)
{
	for (; *glob; glob++) {
		if (*glob == '\\') {
			if (*++glob == '\0')
				return "ends in a lone backslash";
		} else if (*glob == '[') {
			glob = set_end(glob + 1);
			if (!glob)
				return "has a [ that is not closed";
		}
	}
	return NULL;
}

bool pft_glob_has_wildcard(const char *glob)
{
	for (; *glob; glob++) {
		if (*glob == '*' || *glob == '?' || *glob == '[')
			return true;
		if (*glob == '\\')
			glob++;
	}
	return false;
}

void pft_glob_unescape(char *glob)
{
	const char *from = glob;

	while (*from)
		*glob++ = (char)literal(&from);
	*glob = '\0';
}
