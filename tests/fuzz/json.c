// SPDX-License-Identifier: MIT
// A reader of JSON that keeps nothing: see json.h. Each function moves `at` behind what it has read.
#include "tests/fuzz/json.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 1000

struct json {
	const char *at, *end;
	unsigned depth;
};

static void skip_space(struct json *json)
{
	while (json->at < json->end && strchr(" \t\r\n", *json->at) && *json->at)
		json->at++;
}

static bool take(struct json *json, char wanted)
{
	if (json->at == json->end || *json->at != wanted)
		return false;
	json->at++;
	return true;
}

static bool word(struct json *json, const char *wanted)
{
	size_t size = strlen(wanted);

	if ((size_t)(json->end - json->at) < size || memcmp(json->at, wanted, size) != 0)
		return false;
	json->at += size;
	return true;
}

static bool digits(struct json *json)
{
	const char *start = json->at;

	while (json->at < json->end && *json->at >= '0' && *json->at <= '9')
		json->at++;
	return json->at != start;
}

static bool number(struct json *json)
{
	take(json, '-');
	if (!take(json, '0') && !digits(json))
		return false;
	if (take(json, '.') && !digits(json))
		return false;
	if (take(json, 'e') || take(json, 'E')) {
		if (!take(json, '+'))
			take(json, '-');
		return digits(json);
	}
	return true;
}

static bool escape(struct json *json)
{
	if (take(json, 'u')) {
		if (json->end - json->at < 4 || strspn(json->at, "0123456789abcdefABCDEF") < 4)
			return false;
		json->at += 4;
		return true;
	}
	return json->at < json->end && *json->at && strchr("\"\\/bfnrt", *json->at++);
}

// A code point of several bytes (RFC 3629): no longer than needed, no surrogate, none beyond the last.
static bool wide(struct json *json)
{
	uint8_t first = (uint8_t)*json->at++;
	unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	uint32_t code = first & (0x3fu >> more);

	if (first < 0xc2 || first > 0xf4 || (size_t)(json->end - json->at) < more)
		return false;
	for (unsigned i = 0; i < more; i++, json->at++) {
		if (((uint8_t)*json->at & 0xc0) != 0x80)
			return false;
		code = code << 6 | ((uint8_t)*json->at & 0x3f);
	}
	return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && (more != 2 || code >= 0x800) &&
	       (more != 3 || code >= 0x10000);
}

static bool string(struct json *json)
{
	if (!take(json, '"'))
		return false;
	while (json->at < json->end && *json->at != '"') {
		uint8_t byte = (uint8_t)*json->at;

		if (byte < 0x20)
			return false;
		if (byte >= 0x80) {
			if (!wide(json))
				return false;
			continue;
		}
		json->at++;
		if (byte == '\\' && !escape(json))
			return false;
	}
	return take(json, '"');
}

static bool value(struct json *json);

// What stands between brackets: values, with a name in front where `named`.
static bool members(struct json *json, char end, bool named)
{
	skip_space(json);
	if (take(json, end))
		return true;
	do {
		skip_space(json);
		if (named && !string(json))
			return false;
		skip_space(json);
		if (named && !take(json, ':'))
			return false;
		if (!value(json))
			return false;
		skip_space(json);
	} while (take(json, ','));
	return take(json, end);
}

static bool value(struct json *json)
{
	bool good;

	skip_space(json);
	if (json->at == json->end || json->depth == DEPTH_MAX)
		return false;
	json->depth++;
	if (take(json, '{'))
		good = members(json, '}', true);
	else if (take(json, '['))
		good = members(json, ']', false);
	else if (*json->at == '"')
		good = string(json);
	else
		good = word(json, "true") || word(json, "false") || word(json, "null") || number(json);
	json->depth--;
	return good;
}

bool pft_fuzz_is_json(const char *text, size_t size)
{
	struct json json = {.at = text, .end = text + size};
	bool good = value(&json);

	skip_space(&json);
	return good && json.at == json.end;
}
