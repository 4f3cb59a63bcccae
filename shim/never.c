// SPDX-License-Identifier: MIT
// Functions that a trampoline between them and their caller would break. Asked at startup for each candidate.
// The rule: each entry carries its reason; what merely looks odd in a trace is not in this table.
#include <stddef.h>

#include "shim/glob.h"
#include "shim/select.h"

// Words that complete "left alone: it ...".
static const char twice[] = "returns twice";
static const char registers[] = "saves its caller's registers, to be used after it has returned";
static const char other_stack[] = "returns on another stack";
static const char asks_caller[] = "asks who called it";
static const char loader[] = "belongs to the loader, which calls it in the middle of resolving";
static const char convention[] = "has a calling convention of its own";
static const char unwinder[] = "is the unwinder, which walks through the frames of its callers";
static const char personality[] = "is called by the unwinder between two frames";
static const char profiler[] = "is a profiler's hook, which asks who called it";
static const char sanitizer[] = "is a sanitizer's, which asks who called it";
static const char no_caller[] = "has no caller to return to";
static const char whole_life[] = "runs the whole program on its frame";

static const struct {
	const char *glob;
	const char *reason;
} table[] = {
	{"setjmp", twice},
	{"_setjmp", twice},
	{"sigsetjmp", twice},
	{"__sigsetjmp*", twice}, // and __sigsetjmp_cancel
	{"savectx", twice},
	{"getcontext", twice},
	{"swapcontext", twice}, // as often as the context that it saves is resumed
	{"vfork", twice},
	{"__vfork", twice},
	{"_ITM_beginTransaction", twice},

	// unw_getcontext of both libunwinds, under its link-time names.
	{"_U*_getcontext", registers},
	{"unw_getcontext", registers},
	{"__unw_getcontext", registers},

	{"clone", other_stack},
	{"__clone", other_stack},
	{"clone3", other_stack},
	{"__clone3", other_stack},

	// The caller's object decides the namespace, and what RTLD_NEXT and $ORIGIN mean.
	{"dlopen", asks_caller},
	{"dlmopen", asks_caller},
	{"dlsym", asks_caller},
	{"dlvsym", asks_caller},
	{"dl_iterate_phdr", asks_caller},
	{"__libc_dl*", asks_caller},

	{"_dl_*", loader},
	{"__tls_get_addr*",
		convention}, // compilers rely on it to leave more registers alone than the ABI says

	{"__x86_indirect_thunk_*", convention},
	{"__x86_return_thunk", convention},
	{"__rust_probestack", convention},
	{"__morestack*", convention}, // split stacks: moves the caller's frame to a new stack

	{"_Unwind_*", unwinder},
	{"*_personality_*", personality}, // __gxx_personality_v0 and its kin of other languages
	{"*_eh_personality", personality}, // Rust, D

	{"mcount", profiler},
	{"_mcount", profiler},
	{"__fentry__", profiler},
	{"__cyg_profile_func_*", profiler},
	{"__xray_*", profiler},

	{"__asan_*", sanitizer},
	{"__hwasan_*", sanitizer},
	{"__lsan_*", sanitizer},
	{"__msan_*", sanitizer},
	{"__tsan_*", sanitizer},
	{"__ubsan_*", sanitizer},
	{"__sanitizer_*", sanitizer},
	{"__interceptor_*", sanitizer},

	{"_start", no_caller},
	{"__restore_rt", no_caller}, // the kernel "returns" to it from a signal handler
	{"sigreturn", no_caller},
	{"rt_sigreturn", no_caller},

	{"__libc_start_main", whole_life},
	{"__libc_start_call_main", whole_life},
};

const char *pft_never_divert(const char *symbol)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (pft_glob_match(table[i].glob, symbol))
			return table[i].reason;
	return NULL;
}
