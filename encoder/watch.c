// SPDX-License-Identifier: MIT
// From hooks to functions: see watch.h. Flusher context.
#include "encoder/watch.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "encoder/array.h"
#include "encoder/attributes.h"
#include "encoder/names.h"
#include "encoder/session.h"

struct pft_watch {
	struct pft_session *session;
	struct pft_summary *summary; // all of this lies in its memory
	struct pft_names names;
	struct pft_arena scratch;
	uint32_t *functions; // the summary's numbers by hook id; 0: not asked for yet
	uint32_t functions_room;
	struct pft_bottlenecks bottlenecks;
};

// ---- open and close ---------------------------------------------------------------------------------

struct pft_watch *pft_watch_open(struct pft_session *session)
{
	struct pft_summary *summary = pft_summary_open();
	struct pft_watch *watch = summary != NULL ? pft_arena_alloc(&summary->memory, sizeof *watch) : NULL;

	if (watch == NULL) {
		if (summary != NULL)
			pft_summary_close(summary);
		return NULL;
	}
	watch->session = session;
	watch->summary = summary;
	watch->names = (struct pft_names){
		.session = session, .strings.memory = &summary->memory, .scratch = &watch->scratch};
	return watch;
}

void pft_watch_close(struct pft_watch *watch)
{
	pft_arena_free(&watch->scratch);
	pft_summary_close(watch->summary);
}

int pft_watch_report(struct pft_watch *watch, struct pft_totals totals, struct pft_report *report)
{
	const struct pft_session *session = watch->session;
	const char *process = pft_attributes_process(session, &watch->summary->memory);

	*report = (struct pft_report){
		.process = process != NULL ? process : "",
		.command_line = pft_attributes_cmdline(session, &watch->summary->memory),
		.pid = session->pid,
		.totals = totals,
		.usage = {session->peak_rss_bytes, session->minor_faults, session->major_faults},
		.probe = {session->probe_inside_ns, session->probe_outside_ns},
		.summary = watch->summary,
	};
	return pft_report_prepare(report, PFT_REPORT_BY_SELF, &watch->bottlenecks);
}

// ---- functions --------------------------------------------------------------------------------------

static bool make_room_for_hook(struct pft_watch *watch, uint32_t id)
{
	void *grown;

	if (id < watch->functions_room)
		return true;
	grown = pft_array_grow(&watch->summary->memory, watch->functions, &watch->functions_room, id,
		sizeof *watch->functions);
	if (grown != NULL)
		watch->functions = grown;
	return grown != NULL;
}

static const char *text_of(const struct pft_watch *watch, uint32_t string)
{
	const char *text = pft_strings_text(&watch->names.strings, string);

	return text != NULL ? text : "";
}

static uint32_t function_of(struct pft_watch *watch, uint32_t id)
{
	struct pft_shown shown;
	uint32_t function;

	if (id < watch->functions_room && watch->functions[id] != 0)
		return watch->functions[id];
	shown = pft_names_show(&watch->names, id);
	function = pft_summary_function(
		watch->summary, text_of(watch, shown.name), text_of(watch, shown.category));
	if (make_room_for_hook(watch, id))
		watch->functions[id] = function;
	return function;
}

// ---- threads ----------------------------------------------------------------------------------------

void pft_watch_thread(struct pft_watch *watch, struct pft_watched *watched, uint32_t tid, uint64_t ns)
{
	*watched = (struct pft_watched){0};
	if (watch == NULL)
		return;
	watched->thread = pft_summary_thread(watch->summary, tid, ns);
	if (watched->thread != NULL)
		watched->stack = pft_summary_stack(watch->summary, watched->thread);
	if (watched->stack != NULL)
		watched->watch = watch;
}

void pft_watched_name(const struct pft_watched *watched, const char *name)
{
	if (watched->watch != NULL)
		pft_summary_thread_name(watched->watch->summary, watched->thread, name);
}

void pft_watched_end_thread(struct pft_watched *watched, uint64_t ns)
{
	if (watched->watch == NULL)
		return;
	pft_watched_end_all(watched, ns, true);
	pft_summary_thread_end(watched->watch->summary, watched->thread, ns);
	pft_summary_stack_give_back(watched->watch->summary, watched->stack);
	*watched = (struct pft_watched){0};
}

// ---- calls ------------------------------------------------------------------------------------------

void pft_watched_begin(const struct pft_watched *watched, uint64_t ns, uint32_t id)
{
	if (watched->watch != NULL)
		pft_summary_begin(
			watched->watch->summary, watched->stack, ns, function_of(watched->watch, id));
}

void pft_watched_end(const struct pft_watched *watched, uint64_t ns, bool unwound)
{
	if (watched->watch != NULL)
		pft_summary_end(watched->watch->summary, watched->stack, ns, unwound);
}

void pft_watched_end_all(const struct pft_watched *watched, uint64_t ns, bool unwound)
{
	while (watched->watch != NULL && pft_summary_depth(watched->stack) != 0)
		pft_watched_end(watched, ns, unwound);
}

void pft_watched_gap(const struct pft_watched *watched, uint64_t dropped)
{
	if (watched->watch != NULL)
		pft_summary_gap(watched->watch->summary, watched->stack, dropped);
}

void pft_watched_enter(const struct pft_watched *watched, struct pft_watched_call *call,
	const struct pft_watched_call *caller, uint64_t ns, uint32_t id)
{
	call->watch = watched->watch;
	call->thread = watched->thread;
	if (watched->watch != NULL)
		pft_summary_enter(watched->watch->summary, watched->thread,
			caller != NULL && caller->watch != NULL ? &caller->frame : NULL, &call->frame, ns,
			function_of(watched->watch, id));
}

void pft_watched_leave(
	const struct pft_watched_call *call, struct pft_watched_call *caller, uint64_t ns, bool unwound)
{
	if (call->watch != NULL)
		pft_summary_leave(call->watch->summary, call->thread,
			caller != NULL && caller->watch != NULL ? &caller->frame : NULL, &call->frame, ns,
			unwound);
}
