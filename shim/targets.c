// SPDX-License-Identifier: MIT
// Choosing what to divert; see targets.h. Startup context, called by hooks.c.
// The rule: names decide first, they are cheap. Code is read only where a slot is wanted that code may read.
#include "shim/targets.h"

#include <errno.h>
#include <stdbool.h>

#include "shim/code.h"
#include "shim/hot/trampoline.h"
#include "shim/log.h"

#define SAID_MAX 32 // lines on stderr without PFT_VERBOSE

struct choice {
	const struct pft_survey *survey;
	const struct pft_object *caller; // whose slots are looked at
	struct pft_targets *targets;
	size_t data; // of the targets
	bool holds; // the caller has pointers of a garbage collector's
};

// ---- by name ----------------------------------------------------------------------------------------

static const struct pft_object *callee_of(const struct pft_survey *survey, const struct pft_slot *slot)
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
	const struct choice *choice, const struct pft_slot *slot, const struct pft_object *callee)
{
	return choice->survey->settings->mode == PFT_MODE_DEV && callee != choice->caller &&
	       !(callee && callee->loader) && !pft_dev_leaves_out(slot->symbol);
}

static bool is_wanted(
	const struct choice *choice, const struct pft_slot *slot, const struct pft_object *callee)
{
	enum pft_verdict verdict =
		pft_selection_match(choice->survey->selection, slot->symbol, callee ? callee->name : NULL);
	const char *reason;

	if (verdict == PFT_EXCLUDED)
		return false;
	if (verdict != PFT_SELECTED && !is_wanted_by_mode(choice, slot, callee))
		return false;
	reason = pft_never_divert(slot->symbol);
	if (!reason)
		reason = pft_collector_forbids(
			&choice->survey->collector, choice->holds, callee, slot->symbol);
	if (reason && verdict == PFT_SELECTED)
		say_left_alone(slot->symbol, reason);
	return !reason;
}

// A program that is not position independent has the addresses of its PLT stubs built into its code: the
// stub stands for the function's address in all objects (x86-64 psABI 5.2, "Function Addresses"). To the
// loader, which found that address under the function's name, it is a symbol of the program that is not
// defined there.
static bool leads_into_plt(const struct pft_survey *survey, const struct pft_slot *slot)
{
	const struct pft_object *holder = pft_objects_at(survey->objects, (uintptr_t)slot->value);

	return holder && holder->program && !pft_object_symbol(holder, slot->symbol);
}

static int look_for_collector(void *context, const struct pft_slot *slot)
{
	struct choice *choice = context;

	choice->holds |= callee_of(choice->survey, slot) == choice->survey->collector.object;
	return 0;
}

static int look_at_slot(void *context, const struct pft_slot *slot)
{
	struct choice *choice = context;
	const struct pft_object *callee;

	// One that is diverted: in a forked child whose parent was half way through this object.
	if (pft_thunk_id(slot->value) != PFT_HOOK_NONE)
		return 0;
	if (slot->data && leads_into_plt(choice->survey, slot))
		return 0;
	callee = callee_of(choice->survey, slot);
	if (!is_wanted(choice, slot, callee))
		return 0;
	choice->targets->all[choice->targets->count++] = (struct pft_target){*slot, callee, NULL};
	choice->data += slot->data;
	return 0;
}

// ---- by what the code does --------------------------------------------------------------------------

static void say_needs_entry_hook(const struct choice *choice, const struct pft_target *target)
{
	static const char why[] = ": its address is taken there, so they need an entry hook";
	static unsigned said; // a library may be opened and closed without end
	const char *symbol = target->slot.symbol, *caller = choice->caller->name;
	const char *callee = target->callee ? target->callee->name : NULL;

	if (said < SAID_MAX && pft_selection_names(choice->survey->selection, symbol, callee)) {
		pft_log_say("left alone: calls of ", symbol, " from ", caller, why, NULL);
		said++;
	} else {
		pft_log_verbose("left alone: calls of ", symbol, " from ", caller, why, NULL);
	}
}

// Whether calls through this slot can be diverted, and how.
static bool settle(const struct choice *choice, struct pft_target *target, const struct pft_code_use *use)
{
	if (!use->taken)
		return use->calls || use->stub;
	target->stub = use->stub;
	if (!use->stub)
		say_needs_entry_hook(choice, target);
	return use->stub;
}

static void settle_all(const struct choice *choice, const struct pft_code_use *uses)
{
	struct pft_targets *targets = choice->targets;
	size_t count = 0;

	for (size_t i = 0; i < targets->count; i++) {
		struct pft_target *target = &targets->all[i];

		if (target->slot.data && !settle(choice, target, uses++))
			continue;
		targets->all[count++] = *target;
	}
	targets->count = count;
}

static int settle_data(const struct choice *choice)
{
	struct pft_code_use *uses = pft_arena_alloc(choice->survey->arena, choice->data * sizeof(*uses));
	struct pft_code_use *use = uses;
	int error;

	if (!uses)
		return -ENOMEM;
	for (size_t i = 0; i < choice->targets->count; i++)
		if (choice->targets->all[i].slot.data)
			use++->slot = (uintptr_t)choice->targets->all[i].slot.address;
	error = pft_code_read_uses(choice->caller, uses, choice->data, choice->survey->arena);
	if (!error)
		settle_all(choice, uses);
	return error;
}

int pft_targets_choose(
	const struct pft_survey *survey, const struct pft_object *caller, struct pft_targets *targets)
{
	struct choice choice = {.survey = survey, .caller = caller, .targets = targets};
	size_t most = pft_slots_count(caller);

	*targets = (struct pft_targets){pft_arena_alloc(survey->arena, most * sizeof(struct pft_target)), 0};
	if (!targets->all)
		return -ENOMEM;
	choice.holds = caller == survey->collector.object;
	if (survey->collector.object && !choice.holds)
		pft_slots_each(caller, look_for_collector, &choice);
	pft_slots_each(caller, look_at_slot, &choice);
	return choice.data ? settle_data(&choice) : 0;
}
