// SPDX-License-Identifier: MIT
// C++ and Rust names made readable by libiberty's demanglers. Startup and flusher context, and the thread
// that opens a library. The rule: a name costs bounded time, stack and memory, whoever made it up; one that
// would cost more is shown as it is.
#include "encoder/demangle.h"

#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "encoder/base/text.h"
#include "encoder/libiberty.h"

// libiberty itself refuses C++ names of more than half of DEMANGLE_RECURSION_LIMIT.
#define SYMBOL_MAX 4096

// Bytes of the demangled form. Substitutions let it grow exponentially with the symbol.
#define SHOWN_MAX 4096

struct request {
	const char *symbol;
	int options;
	bool done;
	struct pft_text shown;
	void *way_out[5]; // as __builtin_setjmp wants it
	char buffer[SHOWN_MAX];
};

// The demanglers go on to the bitter end whatever we answer, so what grows too long is left by a jump. They
// hold nothing then but stack and what the arena takes back.
static void show(const char *bytes, size_t size, void *context)
{
	struct request *request = context;

	pft_text_add_bytes(&request->shown, bytes, size);
	if (request->shown.cut)
		__builtin_longjmp(request->way_out, 1);
}

// Older Rust names are C++ names with a hash at their end, so Rust is asked first.
static void demangle(void *context)
{
	struct request *request = context;

	if (__builtin_setjmp(request->way_out) != 0)
		return;
	request->shown = pft_text_in(request->buffer, sizeof request->buffer);
	request->done = rust_demangle_callback(request->symbol, 0, show, request) != 0;
	if (request->done)
		return;
	request->shown = pft_text_in(request->buffer, sizeof request->buffer);
	request->done = cplus_demangle_v3_callback(request->symbol, request->options, show, request) != 0;
}

static bool is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R') &&
	       strnlen(symbol, SYMBOL_MAX) < SYMBOL_MAX;
}

const char *pft_demangle(const char *symbol, int parameters, struct pft_arena *arena)
{
	struct pft_arena_mark mark = pft_arena_mark(arena);
	struct request request;

	if (!is_mangled(symbol))
		return NULL;
	request.symbol = symbol;
	request.options = parameters ? DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP : DMGL_NO_OPTS;
	request.done = false;
	if (!pft_libiberty_run(arena, demangle, &request))
		return NULL;
	pft_arena_release(arena, mark);
	return request.done ? pft_arena_copy(arena, request.shown.start, request.shown.used) : NULL;
}
