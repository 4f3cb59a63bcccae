// SPDX-License-Identifier: MIT
// Where the loader and its callers meet us: what we interpose so that opened objects are looked at in time.
// App context; any of it may be called before our constructor, and dlsym by a sanitizer that has not made its
// own memcmp work yet. The rule: dlopen is not touched, and dlsym is gone into by a jump, because both ask
// who called them (namespace, RUNPATH, $ORIGIN, RTLD_NEXT).
//
// Before constructors: _init in crti.o, with which every usual linker call begins an object, calls
// __gmon_start__ if anybody defines it (gcrt1.o does, for gprof). So the first object that dlopen initialises
// calls us: all that came with it are mapped and relocated, the lock is held, and nothing in them has run.
//
// Before dlsym: an object that was linked without crti.o, or opened in another namespace, where none of our
// definitions is seen, is looked at before the program is told an address in it.
#include <dlfcn.h>
#include <stdint.h>

#include "shim/export.h"
#include "shim/opened.h"
#include "shim/unwinder.h"
#include "shim/sanitizer.h"

PFT_EXPORT void __gmon_start__(void)
{
	pft_sanitizer_initialise((uintptr_t)__builtin_return_address(0));
	pft_opened_initialise((uintptr_t)__builtin_return_address(0));
	pft_unwinder_open();
}

// ---- under the lock ---------------------------------------------------------------------------------
//
// dlsym holds the loader's lock while it calls the resolver of an indirect function (glibc, dlsym and
// do_sym). Nothing else that a program can call does the like.

typedef void function(void);

static void nothing(void)
{
}

static function *look(void)
{
	pft_opened_look();
	return nothing;
}

PFT_EXPORT void pft_opened_look_locked(void) __attribute__((ifunc("look")));

// ---- what stands behind us --------------------------------------------------------------------------

typedef void *dlsym_function(void *handle, const char *name);

// The C library's own is told by its version; it knows who is next, which may be another preloaded library.
// This is why dlvsym is left alone.
static dlsym_function *next_dlsym(void)
{
	static dlsym_function *next;

	if (!next) {
		dlsym_function *last = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");

		next = last(RTLD_NEXT, "dlsym");
	}
	return next;
}

// Called by the dlsym of loader_x86_64.S, which jumps to what it answers. An error that waits for dlerror is
// lost, as it is by any lookup.
__attribute__((visibility("hidden"))) dlsym_function *pft_loader_before_dlsym(void)
{
	dlsym_function *next = next_dlsym();

	if (pft_opened_watches())
		next(RTLD_DEFAULT, "pft_opened_look_locked");
	return next;
}

PFT_EXPORT int dlclose(void *handle)
{
	static int (*next)(void *);
	int result;

	if (!next)
		next = next_dlsym()(RTLD_NEXT, "dlclose");
	pft_opened_doubt();
	result = next(handle);
	pft_opened_doubt();
	return result;
}
