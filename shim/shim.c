// SPDX-License-Identifier: MIT
// The library's whole life in order: start, fork, end. Startup and app context. The one rule: whatever fails,
// the program runs on as if we were not there.
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "encoder/base/arena.h"
#include "encoder/base/text.h"
#include "shim/copiers.h"
#include "shim/family.h"
#include "shim/flusher.h"
#include "shim/hooks.h"
#include "shim/hot/clock.h"
#include "shim/hot/guest.h"
#include "shim/hot/probe.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"
#include "shim/hot/stacks.h"
#include "shim/hot/trigger.h"
#include "shim/hot/window.h"
#include "shim/log.h"
#include "shim/mapped.h"
#include "shim/marks.h"
#include "shim/next.h"
#include "shim/objects.h"
#include "shim/opened.h"
#include "shim/place.h"
#include "shim/process.h"
#include "shim/relatives.h"
#include "shim/sanitizer.h"
#include "shim/segments.h"
#include "shim/select.h"
#include "shim/settings.h"
#include "shim/store.h"
#include "shim/threads.h"
#include "shim/unwinder.h"

int __cxa_atexit(void (*function)(void *), void *argument, void *object);
int __cxa_at_quick_exit(void (*function)(void *), void *object);

static struct pft_settings settings;
static struct pft_place place;
static struct pft_arena startup_arena; // settings, selection and objects point into it
static struct pft_objects objects; // what was loaded at startup
static const char *program;
static struct pft_probe_cost cost; // of recording a call

// ---- end --------------------------------------------------------------------------------------------

static void add_totals(struct pft_text *text, const struct pft_totals *totals)
{
	pft_text_add_number(text, totals->produced);
	pft_text_add(text, " events = ");
	pft_text_add_number(text, totals->written);
	pft_text_add(text, " written + ");
	pft_text_add_number(text, totals->filtered);
	pft_text_add(text, " filtered + ");
	pft_text_add_number(text, totals->dropped);
	pft_text_add(text, " dropped");
}

static void say_totals(const struct pft_totals *totals)
{
	char buffer[160];
	struct pft_text text = pft_text_in(buffer, sizeof(buffer));

	add_totals(&text, totals);
	pft_log_verbose(buffer, " in ", pft_place_shown(&place), NULL);
}

static void say_gone(const struct pft_totals *totals)
{
	char number[24];
	struct pft_text text = pft_text_in(number, sizeof(number));

	pft_text_add_number(&text, totals->produced);
	pft_log_say("the trace is gone, and ", number, " events with it: ", pft_place_shown(&place), NULL);
}

static void say_incomplete(const struct pft_totals *totals, int error)
{
	char buffer[160] = "";
	struct pft_text text = pft_text_in(buffer, sizeof(buffer));

	if (totals->produced) {
		pft_text_add(&text, "; ");
		add_totals(&text, totals);
	}
	pft_log_say("the trace is not complete: ", pft_log_reason(error), buffer,
		pft_store_is_file() ? "; its session is kept for pft recover" : "", ": ",
		pft_place_shown(&place), NULL);
}

static void say_segments(void)
{
	if (pft_segments_trouble())
		pft_log_say("a trace is larger than PFT_MAX_SIZE: no other file could be made: ",
			pft_place_shown(&place), ": ", pft_log_reason(pft_segments_trouble()), NULL);
}

static void say_report(const struct pft_said *report)
{
	pft_log_text(report->text, report->size);
	if (report->error)
		pft_log_say("the report is not complete: ", pft_log_reason(report->error), NULL);
}

static void end_recording(void)
{
	struct pft_totals totals;
	struct pft_said report;
	int error;

	if (!pft_recording_stop()) {
		// Another thread ends the recording: ending the process now would cut it off.
		if (pft_process.recording == PFT_RECORDING_STOPPED)
			pft_flusher_await_finish();
		return;
	}
	error = pft_flusher_finish(&totals, &report);
	say_report(&report);
	if (pft_guest_error())
		pft_log_verbose(
			"the flusher could not be started: ", pft_log_reason(pft_guest_error()), NULL);
	if (pft_flusher_lost_files(error)) {
		say_gone(&totals);
		pft_store_remove(&place);
		return;
	}
	if (error) {
		say_incomplete(&totals, error);
		return;
	}
	if (pft_session->unseated)
		pft_log_say("some threads found no place to record: more than can at a time, or no memory; "
			    "what they "
			    "did is counted as dropped",
			NULL);
	say_segments();
	pft_store_remove(&place);
	say_totals(&totals);
}

static void end_last(void *nothing)
{
	(void)nothing;
	end_recording();
}

// The libraries' destructors and their atexit handlers come after ours; a handler that is registered now and
// belongs to no object runs after all of them (glibc, __run_exit_handlers starts over when one is added).
static void __attribute__((destructor)) end(void)
{
	if (pft_process.recording != PFT_RECORDING_ON || __cxa_atexit(end_last, NULL, NULL))
		end_recording();
}

// What the trace calls the process.
static const char *shown_name(void)
{
	return settings.process_name ? settings.process_name : program;
}

static void say_cost(void)
{
	pft_session->probe_inside_ns = cost.inside_ns;
	pft_session->probe_outside_ns = cost.outside_ns;
}

// ---- fork -------------------------------------------------------------------------------------------

// What the session of a forked child says of its origin.
static void say_parent(const struct pft_relative *parent)
{
	pft_session->before = (struct pft_relative){0};
	pft_session->parent = *parent;
	pft_session->forked_ns = pft_process_forked_ns ? pft_process_forked_ns : pft_session->boot_ns;
	pft_process_forked_ns = 0;
}

static bool start_child(void)
{
	static char execution[sizeof(place.execution)];
	static struct pft_relative parent;

	pft_relatives_of(&parent, pft_session);
	parent.tid = pft_self_forked_tid();
	memcpy(execution, place.execution, sizeof(execution));
	// Where the parent's files are perhaps nothing answers.
	if (pft_flusher_is_stuck() || pft_ring_waited_in_vain()) {
		pft_log_verbose("a forked child is not traced: its parent's trace cannot be written", NULL);
		pft_store_abandon();
		return false;
	}
	if (pft_place_make(&place, settings.directory, execution, settings.process_name, program) < 0) {
		pft_store_abandon();
		return false;
	}
	if (pft_store_make_again(&settings, &place, shown_name()) < 0) {
		pft_place_undo(&place);
		return false;
	}
	say_parent(&parent);
	say_cost();
	pft_flusher_prepare(&place, settings.say_report);
	return true;
}

// ---- start ------------------------------------------------------------------------------------------

static const char *program_name(char **arguments)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *slash;

	if (!path || !*path)
		path = arguments[0] ? arguments[0] : "unknown";
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

typedef int gettime_function(int clock, struct timespec *now);

static gettime_function *vdso_gettime(void)
{
	for (size_t i = 0; i < objects.count; i++) {
		const struct pft_object *object = &objects.all[i];
		const Elf64_Sym *symbol =
			object->vdso ? pft_object_symbol(object, "__vdso_clock_gettime") : NULL;

		if (symbol)
			return (gettime_function *)(object->bias + symbol->st_value);
	}
	return NULL;
}

static void start_clock(void)
{
	bool tsc = settings.clock == PFT_CLOCK_TSC && pft_clock_tsc_is_invariant() &&
		   (settings.trust_tsc || pft_clock_tsc_is_offered());

	pft_clock_start(tsc ? PFT_CLOCK_TSC : PFT_CLOCK_MONOTONIC, vdso_gettime());
}

// The first process of a tree that records makes the execution's id; the others are handed it, or find it at
// their parent. Where PFT_PROCESSES leaves programs out, several may be the first. NULL: make one.
static const char *find_execution(
	const char *given, const struct pft_relative *parent, char *const *environment)
{
	static char of_tree[sizeof(place.execution)];

	if (given && *given)
		return given;
	if (parent->execution[0])
		return parent->execution;
	return settings.processes && pft_family_execution(of_tree, sizeof(of_tree), environment) ? of_tree
												 : NULL;
}

static int make_place(const struct pft_relative *parent, char *const *environment)
{
	const char *execution = find_execution(settings.execution, parent, environment);

	return pft_place_make(&place, settings.directory, execution, settings.process_name, program);
}

static bool make_session(char *const *environment)
{
	static struct pft_relative parent;
	bool found = pft_relatives_parent(&parent);

	if (make_place(&parent, environment) < 0)
		return false;
	pft_session = pft_store_make(&settings, &place, shown_name());
	if (pft_session && found)
		pft_session->parent = parent;
	return true;
}

// Without hooks no call returns through us, and nothing is in its way.
static int refuse_copiers(void)
{
	for (size_t i = 0; pft_hooks_wanted(&settings) && i < objects.count; i++) {
		if (!pft_copies_stacks(objects.all[i].name))
			continue;
		pft_log_say("not tracing: ", objects.all[i].name,
			" copies stacks away and back, so recorded calls would return to the wrong place",
			NULL);
		return -ENOTSUP;
	}
	return 0;
}

// Before there is a hook: where its calls come from is a question from the first one on.
static int start_stacks(void)
{
	const struct pft_selection *selection = NULL;

	if (settings.stack_functions) {
		selection = pft_selection_parse(settings.stack_functions, &startup_arena);
		if (!selection)
			return -EINVAL;
	}
	if (!settings.stacks || !pft_hooks_wanted(&settings))
		return 0;
	pft_hooks_want_stacks(selection);
	pft_stacks_start(settings.stacks_over_ns);
	return 0;
}

// What takes them, once there is something to take.
static void ready_stacks(void)
{
	if (!pft_stacks_on())
		return;
	pft_mapped_start(pft_session);
	pft_mapped_renew(objects.all, objects.count);
	pft_unwinder_start(&objects);
}

static int start_session(char *const *environment, struct pft_arena *arena)
{
	struct pft_selection *selection = pft_selection_parse(settings.functions, &startup_arena);
	int error = selection ? pft_marks_start(&settings, &startup_arena) : -EINVAL;

	if (!error)
		error = pft_objects_scan(&objects, &startup_arena, environment);
	if (!error)
		error = refuse_copiers();
	if (error)
		return error;
	pft_next_start(&objects);
	start_clock();
	cost = pft_probe_measure();
	error = start_stacks();
	if (error)
		return error;
	if (!make_session(environment))
		return -ECANCELED;
	if (pft_session)
		pft_window_start(settings.start, settings.stop);
	if (pft_session && settings.trigger_ns)
		pft_trigger_start(settings.trigger_ns);
	error = pft_session ? pft_hooks_install(pft_session, &objects, selection, &settings, arena) : -ENOMEM;
	if (!error) {
		say_cost();
		return 0;
	}
	pft_log_say("not tracing: ", pft_log_reason(error), NULL);
	pft_store_remove(&place);
	pft_place_undo(&place);
	return error;
}

// A program that PFT_PROCESSES leaves out is part of the tree all the same.
static void hand_execution(char *const *environment)
{
	static struct pft_relative parent;
	const char *execution;

	pft_relatives_parent(&parent);
	execution =
		find_execution(pft_environment_get(environment, "PFT_EXECUTION_ID"), &parent, environment);
	if (execution)
		pft_exec_hand(execution);
}

static int start_recording(char *const *environment)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	int error;

	if (pft_settings_read(&settings, environment, program, &startup_arena) < 0)
		return -ECANCELED;
	if (settings.mode == PFT_MODE_OFF) {
		if (settings.processes)
			hand_execution(environment);
		return -ECANCELED;
	}
	pft_log_set_verbose(settings.verbose);
	place.wanted = settings.files | settings.reports;
	error = start_session(environment, &arena);
	pft_arena_free(&arena);
	return error;
}

static void start(char *const *environment)
{
	if (start_recording(environment) < 0)
		return;
	pft_flusher_prepare(&place, settings.say_report);
	pft_process_end = end_recording;
	pft_exec_start(&place);
	__cxa_at_quick_exit(end_last, NULL);
	if (!pft_recording_start())
		return;
	pft_forked = start_child;
	pft_threads_start();
	if (pft_hooks_wanted(&settings))
		pft_opened_start(&objects);
	ready_stacks();
}

// With -z initfirst this runs before the constructors of every other library: libc does not know its
// environment yet, so it is the one that we are passed.
static void __attribute__((constructor)) begin(int count, char **arguments, char **environment)
{
	(void)count;
	if (getauxval(AT_SECURE))
		return;
	program = program_name(arguments);
	start(environment);
	pft_sanitizer_let_first();
}
