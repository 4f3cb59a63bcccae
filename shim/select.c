// SPDX-License-Identifier: MIT
// Parses selectors and matches functions against them. Called at startup, for each candidate.
// The rule: what the text means is settled while it is parsed; matching only compares. The selectors are
// linked last first, so the first that matches decides.
#include "shim/select.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/demangle.h"
#include "shim/glob.h"
#include "shim/log.h"

#define FILE_BYTES_MAX (1 << 20)
#define FILE_DEPTH_MAX 8

static const char accepted[] =
	"; accepted: [-]symbol-glob[@object-glob] with * ? [a-z] [!x] and \\ before what "
	"is meant as it is, or @FILE";
static const char no_memory[] = "met the end of memory";

// A glob, or a text that is compared as it is.
struct pattern {
	const char *text;
	bool plain;
};

struct selector {
	struct selector *previous;
	struct pattern symbol;
	struct pattern object; // no text: whichever
	bool excludes;
};

struct pft_selection {
	struct selector *last;
	struct pft_arena *arena;
};

// Text that is being cut up; ends before `end`.
struct piece {
	const char *start, *end;
};

struct parser {
	struct pft_selection *selection;
	int depth; // of files
};

static int parse_list(struct parser *parser, struct piece list);

// ---- pieces of text ---------------------------------------------------------------------------------

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct piece trimmed(struct piece piece)
{
	while (piece.start < piece.end && is_blank(*piece.start))
		piece.start++;
	while (piece.end > piece.start && is_blank(piece.end[-1]))
		piece.end--;
	return piece;
}

// Where the byte at `at` ends: a backslash takes the next one along.
static const char *behind(const char *at, const char *end)
{
	return *at == '\\' && at + 1 < end ? at + 2 : at + 1;
}

// The end of the selector that starts at `at`, and how many parentheses are open there. A comma between
// parentheses belongs to a parameter list.
static const char *selector_end(const char *at, const char *end, int *open)
{
	for (*open = 0; at < end && *at != '\n'; at = behind(at, end)) {
		if (*at == ',' && *open <= 0)
			break;
		*open += (*at == '(') - (*at == ')');
	}
	return at;
}

static const char *find_byte(struct piece piece, char wanted)
{
	const char *at = piece.start;

	while (at < piece.end && *at != wanted)
		at = behind(at, piece.end);
	return at < piece.end ? at : piece.end;
}

// ---- one selector -----------------------------------------------------------------------------------

static int complain(const struct parser *parser, struct piece piece, const char *fault, const char *reason)
{
	const char *text =
		pft_arena_copy(parser->selection->arena, piece.start, (size_t)(piece.end - piece.start));

	pft_log_say("PFT_FUNCS: \"", text ? text : "", "\" ", fault, reason, accepted, NULL);
	return -EINVAL;
}

// Says what is wrong by its return value: words, or NULL.
static const char *pattern_parse(const struct parser *parser, struct piece piece, struct pattern *pattern)
{
	char *text = pft_arena_copy(parser->selection->arena, piece.start, (size_t)(piece.end - piece.start));
	const char *fault;

	if (!text)
		return no_memory;
	fault = pft_glob_error(text);
	if (fault)
		return fault;
	pattern->plain = !pft_glob_has_wildcard(text);
	if (pattern->plain)
		pft_glob_unescape(text);
	pattern->text = text;
	return NULL;
}

static const char *selector_fill(const struct parser *parser, struct piece piece, struct selector *selector)
{
	const char *at = find_byte(piece, '@');
	struct piece symbol = trimmed((struct piece){piece.start, at}), object = {at, piece.end};
	const char *fault;

	if (symbol.start == symbol.end)
		return "names no symbol";
	fault = pattern_parse(parser, symbol, &selector->symbol);
	if (fault || at == piece.end)
		return fault;
	object.start++;
	object = trimmed(object);
	if (object.start == object.end)
		return "names no object behind the @";
	if (object.end - object.start == 1 && *object.start == '*')
		return NULL;
	return pattern_parse(parser, object, &selector->object);
}

static int parse_selector(struct parser *parser, struct piece piece)
{
	struct selector *selector = pft_arena_alloc(parser->selection->arena, sizeof(*selector));
	struct piece rest = piece;
	const char *fault;

	if (!selector)
		return complain(parser, piece, no_memory, "");
	selector->excludes = *rest.start == '-';
	rest.start += selector->excludes;
	fault = selector_fill(parser, rest, selector);
	if (fault)
		return complain(parser, piece, fault, "");
	selector->previous = parser->selection->last;
	parser->selection->last = selector;
	return 0;
}

// ---- files ------------------------------------------------------------------------------------------

// A pipe may be slow, but must not hang the start of the program.
static bool is_readable(int fd)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};
	struct timespec most = {1, 0};

	return pft_sys4(SYS_ppoll, &wanted, 1, &most, NULL) > 0;
}

// Fills the buffer up to the end of the file (or of a pipe, which comes in parts). Its length, or -errno.
static long read_all(int fd, char *buffer, size_t size)
{
	size_t used = 0;

	while (used < size) {
		long got = pft_sys_read(fd, buffer + used, size - used);

		if (got == 0)
			return (long)used;
		if (got == -EAGAIN && !is_readable(fd))
			return -ETIMEDOUT;
		if (got < 0 && got != -EINTR && got != -EAGAIN)
			return got;
		used += got > 0 ? (size_t)got : 0;
	}
	return -EFBIG;
}

static long read_file(const char *path, char *buffer, size_t size)
{
	long fd = pft_sys_openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
	long length = fd < 0 ? fd : read_all((int)fd, buffer, size);

	if (fd >= 0)
		pft_sys_close((int)fd);
	return length;
}

// Blanks comments out, so that a file is a list like any other. A # within a word belongs to a name
// (Rust's {closure#0}).
static void blank_comments(char *text, const char *end)
{
	bool comment = false, word = false;

	for (; text < end; text++) {
		if (*text == '\n')
			comment = false;
		else if (*text == '#' && !word)
			comment = true;
		word = *text != '\n' && *text != ',' && !is_blank(*text);
		if (comment)
			*text = ' ';
	}
}

static int parse_file(struct parser *parser, struct piece piece)
{
	struct pft_arena *arena = parser->selection->arena;
	char *path = pft_arena_copy(arena, piece.start + 1, (size_t)(piece.end - piece.start - 1));
	char *text = pft_arena_alloc(arena, FILE_BYTES_MAX);
	long length;
	int result;

	if (parser->depth == FILE_DEPTH_MAX)
		return complain(parser, piece, "is nested too deep: files may name files 8 levels down", "");
	if (!path || !text)
		return complain(parser, piece, no_memory, "");
	pft_glob_unescape(path);
	length = read_file(path, text, FILE_BYTES_MAX);
	if (length < 0)
		return complain(parser, piece, "cannot be read: ", pft_log_reason(length));
	blank_comments(text, text + length);
	parser->depth++;
	result = parse_list(parser, (struct piece){text, text + length});
	parser->depth--;
	return result;
}

static int parse_piece(struct parser *parser, struct piece piece, int open)
{
	if (piece.start == piece.end)
		return 0;
	if (open > 0)
		return complain(parser, piece, "has a ( that is not closed", "");
	return *piece.start == '@' ? parse_file(parser, piece) : parse_selector(parser, piece);
}

static int parse_list(struct parser *parser, struct piece list)
{
	int result = 0;

	while (result == 0 && list.start < list.end) {
		int open;
		const char *end = selector_end(list.start, list.end, &open);

		result = parse_piece(parser, trimmed((struct piece){list.start, end}), open);
		list.start = end + 1;
	}
	return result;
}

struct pft_selection *pft_selection_parse(const char *text, struct pft_arena *arena)
{
	struct pft_selection *selection = pft_arena_alloc(arena, sizeof(*selection));
	struct parser parser = {.selection = selection};

	if (!selection)
		return NULL;
	selection->arena = arena;
	if (text && parse_list(&parser, (struct piece){text, text + strlen(text)}))
		return NULL;
	return selection;
}

// ---- matching ---------------------------------------------------------------------------------------

static bool pattern_matches(const struct pattern *pattern, const char *text)
{
	return pattern->plain ? !strcmp(pattern->text, text) : pft_glob_match(pattern->text, text);
}

static bool selector_takes_object(const struct selector *selector, const char *object)
{
	return !selector->object.text || (object && pattern_matches(&selector->object, object));
}

// A symbol and what it is shown as; the demangled forms are made when a selector first asks for them.
struct names {
	const char *symbol;
	const char *bare, *full; // demangled without and with parameters, or NULL
	bool demangled;
};

// Itanium C++ ABI 5.1 (with one more underscore where the platform adds one), Rust RFC 2603.
static bool may_be_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2) || !strncmp(symbol, "__Z", 3);
}

static void names_demangle(struct names *names, struct pft_arena *arena)
{
	if (names->demangled)
		return;
	names->demangled = true;
	if (!may_be_mangled(names->symbol))
		return;
	names->bare = pft_demangle(names->symbol, 0, arena);
	names->full = pft_demangle(names->symbol, 1, arena);
}

static bool selector_takes_names(
	const struct selector *selector, struct names *names, struct pft_arena *arena)
{
	const struct pattern *pattern = &selector->symbol;

	if (pattern_matches(pattern, names->symbol))
		return true;
	names_demangle(names, arena);
	return (names->bare && pattern_matches(pattern, names->bare)) ||
	       (names->full && pattern_matches(pattern, names->full));
}

static const struct selector *deciding(
	const struct pft_selection *selection, const char *symbol, const char *object)
{
	struct pft_arena_mark mark = pft_arena_mark(selection->arena);
	struct names names = {.symbol = symbol};
	const struct selector *selector = selection->last;

	while (selector && !(selector_takes_object(selector, object) &&
				   selector_takes_names(selector, &names, selection->arena)))
		selector = selector->previous;
	pft_arena_release(selection->arena, mark);
	return selector;
}

enum pft_verdict pft_selection_match(
	const struct pft_selection *selection, const char *symbol, const char *object)
{
	const struct selector *selector = deciding(selection, symbol, object);

	if (!selector)
		return PFT_UNSELECTED;
	return selector->excludes ? PFT_EXCLUDED : PFT_SELECTED;
}

bool pft_selection_names(const struct pft_selection *selection, const char *symbol, const char *object)
{
	const struct selector *selector = deciding(selection, symbol, object);

	return selector && !selector->excludes && selector->symbol.plain;
}
