// SPDX-License-Identifier: MIT
// Strings and numbers of JSON: see json_text.h. Flusher context; pure.
#include "encoder/json_text.h"

#include <stdbool.h>
#include <string.h>

#include "encoder/utf8.h"

// DEL as well: JSON allows it raw, but Perfetto's importer takes it for a control character, which it
// refuses. `</` and `<!` would end or change the script element of a page that JSON stands in.
static bool needs_number(const char *from)
{
	unsigned char byte = (unsigned char)*from;

	return byte < 0x20 || byte == 0x7f || (byte == '<' && (from[1] == '/' || from[1] == '!'));
}

// What character at `from` (of `length` bytes, 0 for none) becomes, in `room` of 7 bytes. Its length.
static size_t escape(char *room, const char *from, size_t length)
{
	struct pft_text text = pft_text_in(room, 7);
	unsigned char byte = (unsigned char)*from;

	if (length == 0) {
		pft_text_add(&text, PFT_UTF8_REPLACEMENT);
	} else if (needs_number(from)) {
		pft_text_add(&text, byte < 0x10 ? "\\u000" : "\\u00");
		pft_text_add_hex(&text, byte);
	} else {
		if (byte == '"' || byte == '\\')
			pft_text_add(&text, "\\");
		pft_text_add_bytes(&text, from, length);
	}
	return text.used;
}

void pft_json_add_string(struct pft_text *text, const char *string)
{
	size_t end = text->used + PFT_JSON_STRING_MAX - 1;
	char room[7];

	pft_text_add(text, "\"");
	while (*string) {
		size_t length = pft_utf8_character(string);
		size_t size = escape(room, string, length);

		if (text->used + size > end)
			break;
		pft_text_add_bytes(text, room, size);
		string += length ? length : 1;
	}
	pft_text_add(text, "\"");
}

void pft_json_add_micros(struct pft_text *text, uint64_t ns)
{
	pft_text_add_number(text, ns / 1000);
	pft_text_add(text, ".");
	pft_text_add_padded(text, ns % 1000, 3);
}

static void add_hex(struct pft_text *text, uint64_t number)
{
	pft_text_add(text, "\"0x");
	pft_text_add_hex(text, number);
	pft_text_add(text, "\"");
}

static void add_signed(struct pft_text *text, uint64_t number)
{
	bool negative = number >> 63;

	if (negative)
		pft_text_add(text, "-");
	pft_text_add_number(text, negative ? -number : number);
}

static void add_value(struct pft_text *text, const struct pft_arg *arg)
{
	switch (arg->kind) {
	case PFT_ARG_TEXT:
		pft_json_add_string(text, arg->text ? arg->text : "");
		break;
	case PFT_ARG_NUMBER:
		pft_text_add(text, arg->text);
		break;
	case PFT_ARG_UNSIGNED:
		pft_text_add_number(text, arg->number);
		break;
	case PFT_ARG_SIGNED:
		add_signed(text, arg->number);
		break;
	case PFT_ARG_BOOL:
		pft_text_add(text, arg->number ? "true" : "false");
		break;
	case PFT_ARG_ADDRESS:
		add_hex(text, arg->number);
		break;
	}
}

static void add_arg(struct pft_text *text, const struct pft_arg *arg, bool first)
{
	if (!first)
		pft_text_add(text, ",");
	pft_json_add_string(text, arg->name ? arg->name : "");
	pft_text_add(text, ":");
	add_value(text, arg);
}

// Takes an arg that does not fit back.
void pft_json_add_args(struct pft_text *text, const struct pft_arg *args, size_t count)
{
	size_t start = text->used;

	for (size_t i = 0; i < count && i < PFT_JSON_ARG_COUNT_MAX; i++) {
		size_t before = text->used;

		add_arg(text, &args[i], before == start);
		if (!text->cut && text->used - start <= PFT_JSON_ARGS_MAX)
			continue;
		text->used = before;
		text->start[before] = '\0';
		text->cut = false;
	}
}
