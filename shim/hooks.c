// SPDX-License-Identifier: MIT
// Giving ids and names to what targets.c chose, and diverting it: see hooks.h. A hook is one slot of one
// object: two objects that call the same function have two hooks of one name, since each may be bound to
// another definition.
#include "shim/hooks.h"

#include <errno.h>
#include <string.h>

#include "encoder/base/text.h"
#include "shim/diversion.h"
#include "shim/hot/pages.h"
#include "shim/hot/self.h"
#include "shim/hot/stacks.h"
#include "shim/log.h"
#include "shim/marks.h"
#include "shim/targets.h"
#include "shim/texts.h"
#include "shim/unwinder.h"

struct object_hooks {
	struct pft_targets targets;
	struct pft_diversion diversion; // of as many as there are ids for
};

// What was installed with.
static struct {
	struct pft_session *session;
	const struct pft_selection *selection;
	const struct pft_settings *settings;
	const struct pft_selection *stacks; // whose stacks are taken at the begin, or NULL
} chosen;

// ---- choosing ---------------------------------------------------------------------------------------

static bool may_be_diverted(const struct pft_object *object)
{
	return !object->self && !object->loader && !object->vdso && !pft_unwinder_owns(object);
}

static int choose(
	const struct pft_survey *survey, const struct pft_object *object, struct object_hooks *hooks)
{
	hooks->diversion = (struct pft_diversion){.object = object};
	hooks->targets.count = 0;
	return may_be_diverted(object) ? pft_targets_choose(survey, object, &hooks->targets) : 0;
}

static int choose_all(const struct pft_survey *survey, struct object_hooks *all, size_t *count)
{
	int error = 0;

	*count = 0;
	for (size_t i = 0; i < survey->objects->count && !error; i++) {
		error = choose(survey, &survey->objects->all[i], &all[*count]);
		*count += all[*count].targets.count > 0;
	}
	return error;
}

// ---- naming -----------------------------------------------------------------------------------------

// The names of objects are few: each is kept once, next to where its address in the list says.
static uint32_t object_name(struct pft_session *session, uint32_t *names, const struct pft_objects *objects,
	const struct pft_object *object)
{
	uint32_t *name = object ? &names[object - objects->all] : NULL;

	if (name && !*name)
		*name = pft_texts_add(session, object->name);
	return name ? *name : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// For the hooks of `count` objects, at most.
static int reserve_names(struct pft_session *session, const struct pft_objects *objects,
	const struct object_hooks *all, size_t count)
{
	uint64_t hooks = 0, names = 0;

	for (size_t i = 0; i < objects->count; i++)
		names += strlen(objects->all[i].name) + 1;
	for (size_t i = 0; i < count; i++) {
		hooks += all[i].targets.count;
		for (size_t j = 0; j < all[i].targets.count; j++)
			names += strlen(all[i].targets.all[j].slot.symbol) + 1;
	}
	hooks = least(hooks, PFT_HOOKS_MAX - session->hooks);
	if (!pft_pages_reserve(
		    pft_session_hook(session, session->hooks), hooks * sizeof(struct pft_session_hook)) ||
		!pft_texts_reserve(session, names))
		return -ENOSPC;
	return 0;
}

static void say_no_more(const struct pft_object *object)
{
	static bool said;

	if (!said)
		pft_log_say("all hooks are in use: some calls from ", object->name,
			" and from what is opened later are not recorded", NULL);
	said = true;
}

static void want_stacks(uint32_t id, const struct pft_target *target)
{
	const char *object = target->callee ? target->callee->name : NULL;

	if (chosen.stacks && pft_selection_match(chosen.stacks, target->slot.symbol, object) == PFT_SELECTED)
		pft_stacks_want(id);
}

static void mark_hook(uint32_t id, const struct pft_target *target)
{
	pft_marks_set(id, target->slot.symbol, target->callee ? target->callee->name : NULL);
}

// Gives the chosen slots of one object ids and names, as long as there are ids.
static void name_hooks(struct pft_session *session, struct object_hooks *hooks, uint32_t *names,
	const struct pft_objects *objects)
{
	struct pft_diversion *diversion = &hooks->diversion;

	diversion->first = session->hooks;
	diversion->count = least(hooks->targets.count, PFT_HOOKS_MAX - session->hooks);
	for (size_t i = 0; i < diversion->count; i++) {
		struct pft_session_hook *hook = pft_session_hook(session, session->hooks);

		hook->symbol = pft_texts_add(session, hooks->targets.all[i].slot.symbol);
		hook->object = object_name(session, names, objects, hooks->targets.all[i].callee);
		want_stacks(session->hooks, &hooks->targets.all[i]);
		mark_hook(session->hooks, &hooks->targets.all[i]);
		__atomic_store_n(&session->hooks, session->hooks + 1, __ATOMIC_RELEASE);
	}
	if (diversion->count < hooks->targets.count)
		say_no_more(diversion->object);
}

// ---- diverting --------------------------------------------------------------------------------------

static int plan_all(
	struct pft_session *session, const struct pft_survey *survey, struct object_hooks *all, size_t count)
{
	const struct pft_objects *objects = survey->objects;
	uint32_t *names = pft_arena_alloc(survey->arena, objects->count * sizeof(*names));
	int error = names ? reserve_names(session, objects, all, count) : -ENOMEM;

	for (size_t i = 0; i < count && !error; i++) {
		name_hooks(session, &all[i], names, objects);
		error = pft_diversion_plan(&all[i].diversion, all[i].targets.all, survey->arena);
	}
	return error;
}

static void say_counts(size_t diverted, size_t refused, size_t objects)
{
	char buffer[128];
	struct pft_text text = pft_text_in(buffer, sizeof(buffer));

	pft_text_add_number(&text, diverted);
	pft_text_add(&text, " slots of ");
	pft_text_add_number(&text, objects);
	pft_text_add(&text, " objects are diverted");
	if (refused == 0) {
		pft_log_verbose(buffer, NULL);
		return;
	}
	pft_text_add(&text, ", ");
	pft_text_add_number(&text, refused);
	pft_text_add(&text, " could not be changed");
	pft_log_say(buffer, "; PFT_VERBOSE=1 tells why", NULL);
}

static void divert_all(struct object_hooks *all, size_t count)
{
	size_t planned = 0, ready = 0;

	for (size_t i = 0; i < count; i++) {
		planned += all[i].diversion.count;
		ready += pft_diversion_prepare(&all[i].diversion);
	}
	for (size_t i = 0; i < count; i++)
		pft_diversion_commit(&all[i].diversion);
	say_counts(ready, planned - ready, count);
}

void pft_hooks_want_stacks(const struct pft_selection *selection)
{
	chosen.stacks = selection;
}

bool pft_hooks_wanted(const struct pft_settings *settings)
{
	return settings->functions || settings->mode == PFT_MODE_DEV;
}

int pft_hooks_install(struct pft_session *session, const struct pft_objects *objects,
	const struct pft_selection *selection, const struct pft_settings *settings, struct pft_arena *arena)
{
	const struct pft_survey survey = {objects, selection, settings, arena, pft_collector_find(objects)};
	struct object_hooks *all = pft_arena_alloc(arena, objects->count * sizeof(*all));
	size_t count;
	int error;

	if (!pft_hooks_wanted(settings))
		return 0;
	if (!all)
		return -ENOMEM;
	error = choose_all(&survey, all, &count);
	if (!error)
		error = plan_all(session, &survey, all, count);
	if (error)
		return error;
	divert_all(all, count);
	chosen.session = session;
	chosen.selection = selection;
	chosen.settings = settings;
	return 0;
}

// ---- objects that come later ------------------------------------------------------------------------
//
// Programs open and close plugins without end, and ids are few. A name is all that is known of an id, in the
// rings and in the trace, so the ids of a closed object are as good as new ones for the same names.

struct pft_hooks_run {
	struct pft_hooks_run *next;
	uint32_t first;
	size_t count;
	size_t wanted; // more than there were ids left
	bool used;
	struct pft_diversion_kept kept; // of the object
};

static struct pft_hooks_run *runs;
static struct pft_arena runs_memory;

static bool is_named_so(uint32_t id, const struct pft_target *target)
{
	const struct pft_session_hook *hook = pft_session_hook(chosen.session, id);
	const char *object = target->callee ? target->callee->name : "";

	return strcmp(pft_session_string(chosen.session, hook->symbol), target->slot.symbol) == 0 &&
	       strcmp(pft_session_string(chosen.session, hook->object), object) == 0;
}

static bool serves_for(const struct pft_hooks_run *run, const struct object_hooks *hooks)
{
	if (run->used || run->wanted != hooks->targets.count)
		return false;
	for (size_t i = 0; i < run->count; i++)
		if (!is_named_so(run->first + (uint32_t)i, &hooks->targets.all[i]))
			return false;
	return true;
}

static struct pft_hooks_run *run_again(struct object_hooks *hooks)
{
	struct pft_hooks_run *run = runs;

	while (run && !serves_for(run, hooks))
		run = run->next;
	if (run) {
		hooks->diversion.first = run->first;
		hooks->diversion.count = run->count;
	}
	return run;
}

static struct pft_hooks_run *run_new(struct object_hooks *hooks, const struct pft_survey *survey)
{
	struct pft_arena_mark mark = pft_arena_mark(&runs_memory);
	const struct pft_diversion *diversion = &hooks->diversion;
	const struct pft_objects *objects = survey->objects;
	uint32_t *names = pft_arena_alloc(survey->arena, objects->count * sizeof(*names));
	struct pft_hooks_run *run = pft_arena_alloc(&runs_memory, sizeof(*run));

	if (!names || !run || reserve_names(chosen.session, objects, hooks, 1) != 0)
		return NULL;
	name_hooks(chosen.session, hooks, names, objects);
	if (diversion->count == 0) {
		pft_arena_release(&runs_memory, mark);
		return NULL;
	}
	*run = (struct pft_hooks_run){.next = runs,
		.first = diversion->first,
		.count = diversion->count,
		.wanted = hooks->targets.count};
	runs = run;
	return run;
}

static void say_added(const struct pft_diversion *diversion, size_t count)
{
	char buffer[32];
	struct pft_text text = pft_text_in(buffer, sizeof(buffer));

	pft_text_add_number(&text, count);
	pft_log_verbose(
		buffer, " slots of ", diversion->object->name, ", which was opened, are diverted", NULL);
}

static struct pft_hooks_run *divert(struct object_hooks *hooks, const struct pft_survey *survey)
{
	struct pft_diversion *diversion = &hooks->diversion;
	struct pft_hooks_run *run = run_again(hooks);
	size_t ready;

	if (!run)
		run = run_new(hooks, survey);
	if (!run || pft_diversion_plan(diversion, hooks->targets.all, survey->arena) != 0)
		return NULL;
	ready = pft_diversion_prepare(diversion);
	if (ready == 0)
		return NULL;
	run->used = true;
	run->kept = pft_diversion_keep(diversion);
	pft_diversion_commit(diversion);
	say_added(diversion, ready);
	return run;
}

struct pft_hooks_run *pft_hooks_add(
	const struct pft_objects *objects, const struct pft_object *object, struct pft_arena *arena)
{
	const struct pft_survey survey = {
		objects, chosen.selection, chosen.settings, arena, pft_collector_find(objects)};
	struct object_hooks hooks;

	if (!chosen.session || choose(&survey, object, &hooks) != 0 || hooks.targets.count == 0)
		return NULL;
	return divert(&hooks, &survey);
}

bool pft_hooks_are_in(struct pft_hooks_run *run, const struct pft_object *object)
{
	return pft_diversion_is_in(&run->kept, object);
}

void pft_hooks_drop(struct pft_hooks_run *run)
{
	pft_diversion_drop(&run->kept);
	run->used = false;
}
