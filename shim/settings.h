// SPDX-License-Identifier: MIT
// What the PFT_* environment asks for, read once and const after. Startup context. Reads the environment
// that a constructor is passed, never getenv(): with -z initfirst we run before libc knows its environment.
#ifndef PFT_SETTINGS_H
#define PFT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/session.h"
#include "shim/hot/window.h"
#include "shim/place.h"

struct pft_settings {
	enum pft_mode mode; // off as well in a program that PFT_PROCESSES does not select
	enum pft_overflow overflow;
	enum pft_clock clock; // what PFT_CLOCK allows; PFT_CLOCK_TSC means: if it is invariant
	bool trust_tsc; // even where the kernel does not offer it
	unsigned files; // PFT_FILE_BIT of each that PFT_FORMAT asks for
	unsigned reports; // likewise PFT_REPORT
	bool say_report; // and whether one goes to stderr
	const char *functions; // PFT_FUNCS and the functions of PFT_START and PFT_STOP, or NULL
	const char *directory; // PFT_TRACE_DIR, MONARCH_TRACE_DIR or the default; absolute
	const char *execution; // PFT_EXECUTION_ID, or NULL: we are the first of the tree
	const char *process_name; // PFT_PROCESS_NAME, or NULL
	const char *processes; // PFT_PROCESSES, or NULL
	uint64_t buffer_bytes; // of one thread's ring, a power of two
	uint64_t min_duration_ns; // 0: none
	uint64_t max_depth; // 0: none
	uint64_t segment_bytes; // at which another file begins; 0: never
	uint32_t segments_kept; // 0: all
	enum pft_compress compress;
	bool stacks; // PFT_STACKS asks for some
	const char *stack_functions; // selectors of calls whose stacks are taken at the begin, or NULL: at
				     // the end
	uint64_t stacks_over_ns; // of those that took longer
	struct pft_edge start, stop; // of the recording window
	uint64_t trigger_ns; // a call that takes longer has the rings written; 0: none
	const char *trigger_functions; // selectors of such calls, or NULL
	const char *start_function, *stop_function; // selectors, for an edge of PFT_EDGE_CALL; or NULL
	bool verbose;
};

// Fills `settings` from `environment` (NULL-terminated). Texts point into the environment or the arena.
// 0, or -EINVAL after one line on stderr that names the variable, the value and what is accepted.
// An empty variable counts as unset. Mode off is decided first, without looking at the rest; `program` is the
// name that PFT_PROCESSES selects by.
int pft_settings_read(struct pft_settings *settings, char *const *environment, const char *program,
	struct pft_arena *arena);

// The value of `name` in `environment`, or NULL.
const char *pft_environment_get(char *const *environment, const char *name);

#endif
