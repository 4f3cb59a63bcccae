// SPDX-License-Identifier: MIT
// Choosing, naming and diverting. Startup context; see hooks.h. A hook is one slot of one object: two objects
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
	struct pft_slots_change change;
};

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

	if (!slot->value) // a weak reference that nothing defines
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

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + PFT_PAGE - 1) & -(uint64_t)PFT_PAGE;
}

static int reserve_names(struct pft_session *session, const struct survey *survey)
{
	uint64_t hooks = (session->hooks + survey->hooks) * sizeof(struct pft_session_hook);
	uint64_t names = session->strings_used + survey->name_bytes;

	if (!pft_pages_reserve(pft_session_hook(session, 0), whole_pages(hooks)) ||
		!pft_pages_reserve(pft_session_string(session, 0), whole_pages(names)))
		return -ENOSPC;
	return 0;
}

// ---- diverting --------------------------------------------------------------------------------------

static int plan_object(struct pft_session *session, struct object_hooks *hooks, uint32_t *names,
	const struct pft_objects *objects, struct pft_arena *arena)
{
	struct pft_slot_plan *plans = pft_arena_alloc(arena, hooks->count * sizeof(*plans));
	size_t i;

	if (!plans)
		return -ENOMEM;
	hooks->change = (struct pft_slots_change){.object = hooks->object, .plans = plans};
	for (i = 0; i < hooks->count && session->hooks < PFT_HOOKS_MAX; i++) {
		uint32_t id = session->hooks++;

		pft_session_hook(session, id)->symbol = add_string(session, hooks->targets[i].slot.symbol);
		pft_session_hook(session, id)->object =
			object_name(session, names, objects, hooks->targets[i].callee);
		plans[i] = (struct pft_slot_plan){hooks->targets[i].slot, pft_thunk(id), &pft_originals[id]};
	}
	hooks->change.count = i;
	if (i < hooks->count)
		pft_log_say("all hooks are in use: some calls from ", hooks->object->name,
			" are not recorded", NULL);
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

int pft_hooks_install(struct pft_session *session, const struct pft_objects *objects,
	const struct pft_selection *selection, const struct pft_settings *settings, struct pft_arena *arena)
{
	struct survey survey = {
		.objects = objects, .selection = selection, .settings = settings, .arena = arena};
	struct object_hooks *all = pft_arena_alloc(arena, objects->count * sizeof(*all));
	uint32_t *names = pft_arena_alloc(arena, objects->count * sizeof(*names));
	size_t count, i;
	int error;

	if (!settings->functions && settings->mode != PFT_MODE_DEV)
		return 0;
	if (!all || !names)
		return -ENOMEM;
	error = survey_all(&survey, all, &count);
	if (!error)
		error = reserve_names(session, &survey);
	for (i = 0; i < count && !error; i++)
		error = plan_object(session, &all[i], names, objects, arena);
	if (error)
		return error;
	for (i = 0; i < count; i++)
		pft_slots_commit(&all[i].change);
	say_count(session, count);
	return 0;
}
