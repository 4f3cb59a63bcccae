// SPDX-License-Identifier: MIT
// Which collectors there are, and what they are in the way of: see collectors.h. Called by targets.c. The
// rule: a collector is known by a function that it exports, so a program that has it built in is seen as
// well.
#include "shim/collectors.h"

#include <stddef.h>
#include <string.h>

#include "shim/glob.h"

static const struct {
	const char *symbol;
	bool looks_at_running_threads;
} table[] = {
	{"GC_gcollect", true}, // Boehm, Demers and Weiser's: Guile, Inkscape, w3m
	{"rb_gc_mark_maybe", false}, // Ruby: who lets other threads run has saved its registers
	{"mono_gc_collect", true}, {"gc_collect", true}, // D's runtimes
};

// Functions of libc that call their caller back, who may allocate.
static const char *const calling_back[] = {
	"qsort*",
	"bsearch",
	"lfind",
	"lsearch",
	"tsearch",
	"tdelete",
	"tfind",
	"twalk*",
	"tdestroy",
	"ftw*",
	"nftw*",
	"fts_*",
	"glob*",
	"scandir*",
	"pthread_once",
	"call_once",
	"exit",
	"argp_parse",
};

struct pft_collector pft_collector_find(const struct pft_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++)
		for (size_t j = 0; j < sizeof(table) / sizeof(*table); j++)
			if (pft_object_symbol(&objects->all[i], table[j].symbol))
				return (struct pft_collector){
					&objects->all[i], table[j].looks_at_running_threads};
	return (struct pft_collector){NULL, false};
}

static bool calls_back(const char *symbol)
{
	for (size_t i = 0; i < sizeof(calling_back) / sizeof(*calling_back); i++)
		if (pft_glob_match(calling_back[i], symbol))
			return true;
	return false;
}

// Which of its functions call back is known of libc alone.
static bool is_libc(const struct pft_object *object)
{
	return object && (strcmp(object->name, "libc.so.6") == 0 || strcmp(object->name, "libm.so.6") == 0);
}

const char *pft_collector_forbids(const struct pft_collector *collector, bool caller_holds,
	const struct pft_object *callee, const char *symbol)
{
	if (!collector->object)
		return NULL;
	if (callee == collector->object)
		return "may collect garbage, and looks for its caller's pointers where they are not";
	if (!caller_holds)
		return NULL;
	if (collector->looks_at_running_threads)
		return "is called by an object whose pointers a garbage collector looks for at any time";
	if (!is_libc(callee) || calls_back(symbol))
		return "may call back an object that collects garbage, and looks for its caller's pointers";
	return NULL;
}
