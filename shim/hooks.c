// SPDX-License-Identifier: MIT
// Choosing, naming and diverting: see hooks.h. A hook is one slot of one object: two objects
// that call the same function have two hooks of one name, since each may be bound to another definition.
#include "shim/hooks.h"

#include <errno.h>
#include <string.h>

#include "encoder/base/text.h"
#include "shim/hot/pages.h"
#include "shim/hot/self.h"
#include "shim/hot/trampoline.h"
#include "shim/log.h"
#include "shim/slots.h"

// A slot that will be diverted.
struct target {
	struct pft_slot slot;
	const struct pft_object *callee; // that defines the function, as far as can be told; or NULL
};

struct survey {
	const struct pft_objects *objects;
	const struct pft_selection *selection;
	const struct pft_settings *settings;
	struct pft_arena *arena;
	const struct pft_object *caller; // whose slots are looked at
	struct target *targets; // of the caller
	size_t count;
	uint64_t hooks; // of all objects
	uint64_t name_bytes;
};

struct object_hooks {
	const struct pft_object *object;
	struct target *targets;
	size_t count;
	uint32_t first; // of their ids, which follow each other
	struct pft_slots_change change;
};

// What was installed with.
static struct {
	struct pft_session *session;
	const struct pft_selection *selection;
	const struct pft_settings *settings;
} chosen;

// ---- choosing ---------------------------------------------------------------------------------------

static const struct pft_object *callee_of(const struct survey *survey, const struct pft_slot *slot)
{
	const struct pft_object *object = NULL;

	if (!slot->lazy)
		object = pft_objects_at(survey->objects, (uintptr_t)slot->value);
	if (!object || object->self) // that is, one that we interpose
		object = pft_objects_defining(survey->objects, slot->symbol);
	return object;
}

static void say_left_alone(const char *symbol, const char *reason)
{
	pft_log_verbose("left alone: ", symbol, ": it ", reason, NULL);
}

// Dev mode records what crosses from one object to another; the loader's own functions belong to nobody's
// work.
static bool is_wanted_by_mode(
	const struct survey *survey, const struct pft_slot *slot, const struct pft_object *callee)
{
	return survey->settings->mode == PFT_MODE_DEV && callee != survey->caller &&
	       !(callee && callee->loader) && !pft_dev_leaves_out(slot->symbol);
}

static bool is_wanted(
	const struct survey *survey, const struct pft_slot *slot, const struct pft_object *callee)
{
	enum pft_verdict verdict =
		pft_selection_match(survey->selection, slot->symbol, callee ? callee->name : NULL);
	const char *reason;

	if (verdict == PFT_EXCLUDED)
		return false;
	if (verdict != PFT_SELECTED && !is_wanted_by_mode(survey, slot, callee))
		return false;
	reason = pft_never_divert(slot->symbol);
	if (reason && verdict == PFT_SELECTED)
		say_left_alone(slot->symbol, reason);
	return !reason;
}

static int look_at_slot(void *context, const struct pft_slot *slot)
{
	struct survey *survey = context;
	const struct pft_object *callee;

	// A weak reference that nothing defines, or one that is diverted: in a forked child whose parent was
	// half way through this object.
	if (!slot->value || pft_thunk_id(slot->value) != PFT_HOOK_NONE)
		return 0;
	callee = callee_of(survey, slot);
	if (!is_wanted(survey, slot, callee))
		return 0;
	survey->targets[survey->count++] = (struct target){*slot, callee};
	survey->name_bytes += strlen(slot->symbol) + 1;
	return 0;
}

static int survey_object(struct survey *survey, struct object_hooks *hooks)
{
	survey->caller = hooks->object;
	survey->count = 0;
	survey->targets = pft_arena_alloc(survey->arena, hooks->object->jump_count * sizeof(struct target));
	if (!survey->targets)
		return -ENOMEM;
	pft_slots_each(hooks->object, look_at_slot, survey);
	hooks->targets = survey->targets;
	hooks->count = survey->count;
	survey->hooks += survey->count;
	return 0;
}

static bool may_be_diverted(const struct pft_object *object)
{
	return !object->self && !object->loader && !object->vdso && object->jump_count > 0;
}

static int survey_all(struct survey *survey, struct object_hooks *all, size_t *count)
{
	size_t i;

	for (*count = i = 0; i < survey->objects->count; i++) {
		struct object_hooks *hooks = &all[*count];
		int error;

		hooks->object = &survey->objects->all[i];
		survey->name_bytes += strlen(hooks->object->name) + 1;
		if (!may_be_diverted(hooks->object))
			continue;
		error = survey_object(survey, hooks);
		if (error)
			return error;
		*count += hooks->count > 0;
	}
	return 0;
}

// ---- naming -----------------------------------------------------------------------------------------

static uint32_t add_string(struct pft_session *session, const char *string)
{
	size_t bytes = strlen(string) + 1;
	uint32_t at = session->strings_used;

	if (bytes > session->strings_bytes - at)
		return 0;
	memcpy(pft_session_string(session, at), string, bytes);
	session->strings_used += (uint32_t)bytes;
	return at;
}

// The names of objects are few: each is kept once, next to where its address in the list says.
static uint32_t object_name(struct pft_session *session, uint32_t *names, const struct pft_objects *objects,
	const struct pft_object *object)
{
	uint32_t *name = object ? &names[object - objects->all] : NULL;

	if (name && !*name)
		*name = add_string(session, object->name);
	return name ? *name : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int reserve_names(struct pft_session *session, const struct survey *survey)
{
	uint64_t hooks = least(survey->hooks, PFT_HOOKS_MAX - session->hooks);
	uint64_t names = least(survey->name_bytes, session->strings_bytes - session->strings_used);

	if (!pft_pages_reserve(
		    pft_session_hook(session, session->hooks), hooks * sizeof(struct pft_session_hook)) ||
		!pft_pages_reserve(pft_session_string(session, session->strings_used), names))
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

// Gives the chosen slots of one object ids and names, as long as there are ids.
static void name_hooks(struct pft_session *session, struct object_hooks *hooks, uint32_t *names,
	const struct pft_objects *objects)
{
	size_t wanted = hooks->count;

	hooks->first = session->hooks;
	hooks->count = least(wanted, PFT_HOOKS_MAX - session->hooks);
	for (size_t i = 0; i < hooks->count; i++) {
		struct pft_session_hook *hook = pft_session_hook(session, session->hooks);

		hook->symbol = add_string(session, hooks->targets[i].slot.symbol);
		hook->object = object_name(session, names, objects, hooks->targets[i].callee);
		__atomic_store_n(&session->hooks, session->hooks + 1, __ATOMIC_RELEASE);
	}
	if (hooks->count < wanted)
		say_no_more(hooks->object);
}

// ---- diverting --------------------------------------------------------------------------------------

static int plan_object(struct object_hooks *hooks, struct pft_arena *arena)
{
	struct pft_slot_plan *plans = pft_arena_alloc(arena, hooks->count * sizeof(*plans));

	if (!plans)
		return -ENOMEM;
	hooks->change =
		(struct pft_slots_change){.object = hooks->object, .plans = plans, .count = hooks->count};
	for (size_t i = 0; i < hooks->count; i++) {
		uint32_t id = hooks->first + (uint32_t)i;

		plans[i] = (struct pft_slot_plan){hooks->targets[i].slot, pft_thunk(id), &pft_originals[id]};
	}
	return pft_slots_prepare(&hooks->change);
}

static void say_count(const struct pft_session *session, size_t objects)
{
	char buffer[64];
	struct pft_text text = pft_text_in(buffer, sizeof(buffer));

	pft_text_add_number(&text, session->hooks - PFT_HOOK_FIRST);
	pft_text_add(&text, " slots of ");
	pft_text_add_number(&text, objects);
	pft_text_add(&text, " objects are diverted");
	pft_log_verbose(buffer, NULL);
}

bool pft_hooks_wanted(const struct pft_settings *settings)
{
	return settings->functions || settings->mode == PFT_MODE_DEV;
}

int pft_hooks_install(struct pft_session *session, const struct pft_objects *objects,
	const struct pft_selection *selection, const struct pft_settings *settings, struct pft_arena *arena)
{
	struct survey survey = {
		.objects = objects, .selection = selection, .settings = settings, .arena = arena};
	struct object_hooks *all = pft_arena_alloc(arena, objects->count * sizeof(*all));
	uint32_t *names = pft_arena_alloc(arena, objects->count * sizeof(*names));
	size_t count, i;
	int error;

	if (!pft_hooks_wanted(settings))
		return 0;
	if (!all || !names)
		return -ENOMEM;
	error = survey_all(&survey, all, &count);
	if (!error)
		error = reserve_names(session, &survey);
	for (i = 0; i < count && !error; i++) {
		name_hooks(session, &all[i], names, objects);
		error = plan_object(&all[i], arena);
	}
	if (error)
		return error;
	for (i = 0; i < count; i++)
		pft_slots_commit(&all[i].change);
	chosen.session = session;
	chosen.selection = selection;
	chosen.settings = settings;
	say_count(session, count);
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
	Elf64_Rela *jumps; // the table that the loader was given for the object, or NULL
	size_t jump_count;
};

static struct pft_hooks_run *runs;
static struct pft_arena runs_memory;

static bool is_named_so(uint32_t id, const struct target *target)
{
	const struct pft_session_hook *hook = pft_session_hook(chosen.session, id);
	const char *object = target->callee ? target->callee->name : "";

	return strcmp(pft_session_string(chosen.session, hook->symbol), target->slot.symbol) == 0 &&
	       strcmp(pft_session_string(chosen.session, hook->object), object) == 0;
}

static bool serves_for(const struct pft_hooks_run *run, const struct object_hooks *hooks)
{
	if (run->used || run->wanted != hooks->count)
		return false;
	for (size_t i = 0; i < run->count; i++)
		if (!is_named_so(run->first + (uint32_t)i, &hooks->targets[i]))
			return false;
	return true;
}

static struct pft_hooks_run *run_again(struct object_hooks *hooks)
{
	struct pft_hooks_run *run = runs;

	while (run && !serves_for(run, hooks))
		run = run->next;
	if (run) {
		hooks->first = run->first;
		hooks->count = run->count;
	}
	return run;
}

static struct pft_hooks_run *run_new(struct object_hooks *hooks, struct survey *survey)
{
	struct pft_arena_mark mark = pft_arena_mark(&runs_memory);
	uint32_t *names = pft_arena_alloc(survey->arena, survey->objects->count * sizeof(*names));
	struct pft_hooks_run *run = pft_arena_alloc(&runs_memory, sizeof(*run));
	size_t wanted = hooks->count;

	for (size_t i = 0; i < survey->objects->count; i++)
		survey->name_bytes += strlen(survey->objects->all[i].name) + 1;
	if (!names || !run || reserve_names(chosen.session, survey) != 0)
		return NULL;
	name_hooks(chosen.session, hooks, names, survey->objects);
	if (hooks->count == 0) {
		pft_arena_release(&runs_memory, mark);
		return NULL;
	}
	*run = (struct pft_hooks_run){
		.next = runs, .first = hooks->first, .count = hooks->count, .wanted = wanted};
	runs = run;
	return run;
}

static void say_added(const struct object_hooks *hooks)
{
	char buffer[32];
	struct pft_text text = pft_text_in(buffer, sizeof(buffer));

	pft_text_add_number(&text, hooks->count);
	pft_log_verbose(buffer, " slots of ", hooks->object->name, ", which was opened, are diverted", NULL);
}

static struct pft_hooks_run *divert(struct object_hooks *hooks, struct survey *survey)
{
	struct pft_hooks_run *run = run_again(hooks);

	if (!run)
		run = run_new(hooks, survey);
	if (!run || plan_object(hooks, survey->arena) != 0)
		return NULL;
	run->used = true;
	run->jumps = hooks->change.jumps;
	run->jump_count = hooks->object->jump_count;
	pft_slots_commit(&hooks->change);
	say_added(hooks);
	return run;
}

struct pft_hooks_run *pft_hooks_add(
	const struct pft_objects *objects, const struct pft_object *object, struct pft_arena *arena)
{
	struct survey survey = {.objects = objects,
		.selection = chosen.selection,
		.settings = chosen.settings,
		.arena = arena};
	struct object_hooks hooks = {.object = object};

	if (!chosen.session || !may_be_diverted(object) || survey_object(&survey, &hooks) != 0 ||
		hooks.count == 0)
		return NULL;
	return divert(&hooks, &survey);
}

static int is_thunk_of(void *context, const struct pft_slot *slot)
{
	const struct pft_hooks_run *run = context;

	return pft_thunk_id(slot->value) - run->first < run->count;
}

// A slot may have lost its thunk to the loader, which was just resolving it; then the table is ours.
bool pft_hooks_are_in(struct pft_hooks_run *run, const struct pft_object *object)
{
	return pft_slots_table_is_copy(object) || pft_slots_each(object, is_thunk_of, run) != 0;
}

void pft_hooks_drop(struct pft_hooks_run *run)
{
	Elf64_Rela *jumps = run->jumps;

	run->jumps = NULL;
	pft_slots_drop_table(jumps, run->jump_count);
	run->used = false;
}
