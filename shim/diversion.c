// SPDX-License-Identifier: MIT
// Slots and stubs of one object together; see diversion.h.
// The rule: what an object does not allow is no reason to leave out the rest of it, or other objects.
#include "shim/diversion.h"

#include <errno.h>

#include "shim/hot/trampoline.h"
#include "shim/log.h"

static void plan(struct pft_diversion *diversion, const struct pft_target *target, uint32_t id)
{
	struct pft_slots_change *slots = &diversion->slots;
	struct pft_stubs_change *stubs = &diversion->stubs;
	void *thunk = pft_thunk(id), **cell = &pft_originals[id];

	if (target->stub)
		stubs->plans[stubs->count++] =
			(struct pft_stub_plan){target->stub, target->slot.value, thunk, cell};
	else
		slots->plans[slots->count++] = (struct pft_slot_plan){target->slot, thunk, cell};
}

int pft_diversion_plan(
	struct pft_diversion *diversion, const struct pft_target *targets, struct pft_arena *arena)
{
	size_t count = diversion->count;

	diversion->slots = (struct pft_slots_change){.object = diversion->object,
		.plans = pft_arena_alloc(arena, count * sizeof(struct pft_slot_plan))};
	diversion->stubs = (struct pft_stubs_change){.object = diversion->object,
		.plans = pft_arena_alloc(arena, count * sizeof(struct pft_stub_plan))};
	if (!diversion->slots.plans || !diversion->stubs.plans)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		plan(diversion, &targets[i], diversion->first + (uint32_t)i);
	return 0;
}

static void say_refused(const struct pft_object *object, const char *what, int error)
{
	pft_log_verbose("calls from ", object->name, " are not recorded: its ", what,
		" cannot be changed: ", pft_log_reason(error), NULL);
}

size_t pft_diversion_prepare(struct pft_diversion *diversion)
{
	int error = pft_slots_prepare(&diversion->slots);

	if (error) {
		say_refused(diversion->object, "slots", error);
		diversion->slots.count = 0;
	}
	error = pft_stubs_prepare(&diversion->stubs);
	if (error) {
		say_refused(diversion->object, "stubs", error);
		diversion->stubs.count = 0;
	}
	return diversion->slots.count + diversion->stubs.count;
}

void pft_diversion_commit(struct pft_diversion *diversion)
{
	pft_slots_commit(&diversion->slots);
	pft_stubs_commit(&diversion->stubs);
}

// ---- afterwards -------------------------------------------------------------------------------------

struct pft_diversion_kept pft_diversion_keep(const struct pft_diversion *diversion)
{
	return (struct pft_diversion_kept){.first = diversion->first,
		.count = diversion->count,
		.slots = diversion->slots.kept,
		.stubs = diversion->stubs.kept};
}

static int is_thunk_of(void *context, const struct pft_slot *slot)
{
	const struct pft_diversion_kept *kept = context;

	return pft_thunk_id(slot->value) - kept->first < kept->count;
}

// A slot may have lost its thunk to the loader, which was just resolving it; then the table is ours.
bool pft_diversion_is_in(const struct pft_diversion_kept *kept, const struct pft_object *object)
{
	return pft_slots_table_is_copy(object) || pft_stubs_are_led(&kept->stubs, object) ||
	       pft_slots_each(object, is_thunk_of, (void *)kept) != 0;
}

void pft_diversion_drop(struct pft_diversion_kept *kept)
{
	pft_slots_drop(&kept->slots);
	pft_stubs_drop(&kept->stubs);
	*kept = (struct pft_diversion_kept){0};
}
