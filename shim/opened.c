// SPDX-License-Identifier: MIT
// What the loader has, compared with what it had at the last look: see opened.h. The rule: an object that
// is in both lists, at the same place, is taken for the same one only as long as nothing was closed; else its
// own memory is asked, where our thunks are gone when it was mapped anew.
#include "shim/opened.h"

#include <string.h>

#include "shim/copiers.h"
#include "shim/hooks.h"
#include "shim/hot/self.h"
#include "shim/log.h"
#include "shim/mapped.h"
#include "shim/process.h"

#define SPACES_MAX 16 // glibc, DL_NNS

// What we know of an object beside itself.
struct state {
	struct pft_hooks_run *run; // NULL: none of its slots is diverted
	bool from_start;
	bool looked_at;
	bool initialised; // its constructors were about to run
	bool reopened; // they were again: it is another one at the same place
	bool goes_on; // it is in the next list as well
};

struct space {
	size_t first, count;
};

struct list {
	struct pft_arena arena; // holds all of it, the list itself included
	struct pft_object *objects; // space by space, in the loader's order
	struct state *states;
	size_t count;
	struct space spaces[SPACES_MAX];
	size_t space_count;
};

static struct {
	const struct pft_objects *start;
	struct list *list;
	size_t cursor; // in the list: where the last search ended
	uint64_t seen; // fingerprint of the loader's lists at the last look; 0: in doubt
	uint32_t busy; // process in which a look is under way: a signal handler may open, too
} opened;

// ---- the loader's lists -----------------------------------------------------------------------------

static uint64_t mix(uint64_t sum, uint64_t word)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); // 2^64 / golden ratio: spreads differences

	return (sum ^ word) * odd;
}

// Never 0. Equal when nothing has come or gone, but for an object that was closed and came again at the same
// place.
static uint64_t fingerprint(void)
{
	const struct r_debug *space = pft_objects_base(opened.start);
	uint64_t sum = 1;

	for (; space; space = pft_objects_next_space(space))
		for (const struct link_map *map = space->r_map; map; map = map->l_next)
			sum = mix(mix(sum, (uintptr_t)map), map->l_addr);
	return sum | 1;
}

static size_t count_maps(void)
{
	const struct r_debug *space = pft_objects_base(opened.start);
	size_t count = 0;

	for (; space; space = pft_objects_next_space(space))
		for (const struct link_map *map = space->r_map; map; map = map->l_next)
			count++;
	return count;
}

static struct list *list_allocate(size_t count)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct list *list = pft_arena_alloc(&arena, sizeof(*list));
	struct pft_object *objects = pft_arena_alloc(&arena, count * sizeof(*objects));
	struct state *states = pft_arena_alloc(&arena, count * sizeof(*states));

	if (!list || !objects || !states) {
		pft_arena_free(&arena);
		return NULL;
	}
	*list = (struct list){.arena = arena, .objects = objects, .states = states};
	return list;
}

static void list_free(struct list *list)
{
	struct pft_arena arena = list->arena;

	pft_arena_free(&arena);
}

// ---- what goes on -----------------------------------------------------------------------------------

static bool is_of(const struct pft_object *object, const struct link_map *map)
{
	return object->map == map && object->bias == map->l_addr && object->dynamic == map->l_ld;
}

// Both lists are mostly in the same order, so a search begins where the last one ended. The index, or the
// count.
static size_t find(const struct list *list, const struct link_map *map)
{
	for (size_t tries = 0; tries < list->count; tries++) {
		size_t i = (opened.cursor + tries) % list->count;

		if (is_of(&list->objects[i], map)) {
			opened.cursor = i + 1;
			return i;
		}
	}
	return list->count;
}

static bool has_tables_of(const struct pft_object *a, const struct pft_object *b)
{
	return a->high == b->high && a->symbols == b->symbols && a->strings == b->strings &&
	       a->jumps == b->jumps && a->jump_count == b->jump_count &&
	       a->relocation_count == b->relocation_count;
}

// Whether the object that was read anew is the one that was known by `state`.
static bool is_same(
	const struct state *state, const struct pft_object *known, const struct pft_object *object)
{
	if (state->from_start)
		return true;
	if (state->run)
		return pft_hooks_are_in(state->run, object);
	return !state->reopened && has_tables_of(known, object);
}

// Takes over what is known of the object, or reads it anew.
static void list_add(struct list *list, const struct link_map *map, bool doubt)
{
	struct list *before = opened.list;
	size_t i = find(before, map), at = list->count++;
	struct state *state = i < before->count ? &before->states[i] : NULL;

	if (state && (state->from_start || !(doubt || state->reopened)))
		list->objects[at] = before->objects[i];
	else
		pft_object_read(&list->objects[at], map, opened.start->bind_now);
	if (!state || !is_same(state, &before->objects[i], &list->objects[at]))
		return;
	state->goes_on = true;
	list->states[at] = *state;
	list->states[at].reopened = false;
}

static struct list *list_read(bool doubt)
{
	const struct r_debug *space = pft_objects_base(opened.start);
	struct list *list = list_allocate(count_maps());

	for (size_t i = 0; i < opened.list->count; i++)
		opened.list->states[i].goes_on = false;
	for (; list && space && list->space_count < SPACES_MAX; space = pft_objects_next_space(space)) {
		struct space *added = &list->spaces[list->space_count++];

		added->first = list->count;
		for (const struct link_map *map = space->r_map; map; map = map->l_next)
			list_add(list, map, doubt);
		added->count = list->count - added->first;
	}
	return list;
}

// ---- what has come and gone -------------------------------------------------------------------------

static void let_go(const struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->states[i].run && !list->states[i].goes_on)
			pft_hooks_drop(list->states[i].run);
}

// The loader searches what was there at startup, then what came with the object (which it lists breadth
// first, as it searches it). What came before may be in its scope too (RTLD_GLOBAL, or as one it needs), and
// stands last. With RTLD_DEEPBIND what came with it is searched first: nothing shows that.
enum rank { RANK_START, RANK_NEW, RANK_OLD, RANKS };

static enum rank rank_of(const struct state *state)
{
	if (state->from_start)
		return RANK_START;
	return state->looked_at ? RANK_OLD : RANK_NEW;
}

// The objects of a space in the order of the scope of those that are new in it; `numbers[i]` is the place of
// the one that the loader lists as i-th.
static struct pft_objects scope_of(
	const struct list *list, const struct space *space, size_t *numbers, struct pft_arena *arena)
{
	struct pft_objects scope = {.all = pft_arena_alloc(arena, space->count * sizeof(*scope.all))};

	for (enum rank rank = RANK_START; scope.all && rank < RANKS; rank++) {
		for (size_t i = 0; i < space->count; i++) {
			if (rank_of(&list->states[space->first + i]) != rank)
				continue;
			numbers[i] = scope.count;
			scope.all[scope.count++] = list->objects[space->first + i];
		}
	}
	return scope;
}

static void divert_new(struct list *list, const struct space *space, struct pft_arena *arena)
{
	size_t *numbers = pft_arena_alloc(arena, space->count * sizeof(*numbers));
	struct pft_objects scope;

	if (!numbers)
		return;
	scope = scope_of(list, space, numbers, arena);
	for (size_t i = 0; i < scope.count; i++) {
		struct state *state = &list->states[space->first + i];

		if (!state->looked_at)
			state->run = pft_hooks_add(&scope, &scope.all[numbers[i]], arena);
		state->looked_at = true;
	}
}

static const struct pft_object *new_copier(const struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->states[i].looked_at && pft_copies_stacks(list->objects[i].name))
			return &list->objects[i];
	return NULL;
}

// None of its code has run. The records of the calls that are open now stay as they are, since nobody makes
// others.
static void end_before(const struct pft_object *copier)
{
	pft_log_say("recording ends: ", copier->name,
		" copies stacks away and back, so recorded calls would return to the wrong place", NULL);
	pft_process_end();
}

static void look_again(bool doubt)
{
	struct pft_arena arena = PFT_ARENA_EMPTY;
	struct list *before = opened.list, *list = list_read(doubt);
	const struct pft_object *copier;

	if (!list)
		return;
	copier = new_copier(list);
	if (copier) {
		end_before(copier);
		list_free(list);
		return;
	}
	let_go(before);
	pft_mapped_renew(list->objects, list->count);
	for (size_t i = 0; i < list->space_count; i++)
		divert_new(list, &list->spaces[i], &arena);
	opened.list = list;
	list_free(before);
	pft_arena_free(&arena);
}

// ---- verbs ------------------------------------------------------------------------------------------

void pft_opened_start(const struct pft_objects *objects)
{
	struct list *list = list_allocate(objects->count);

	if (!list)
		return;
	memcpy(list->objects, objects->all, objects->count * sizeof(*objects->all));
	list->count = objects->count;
	for (size_t i = 0; i < list->count; i++)
		list->states[i] = (struct state){.from_start = true, .looked_at = true};
	opened.start = objects;
	opened.list = list;
	opened.seen = fingerprint();
}

bool pft_opened_watches(void)
{
	return opened.list;
}

void pft_opened_look(void)
{
	uint64_t seen = __atomic_load_n(&opened.seen, __ATOMIC_RELAXED), now;

	if (!opened.list)
		return;
	now = fingerprint();
	if (now == seen || !pft_process_records() || opened.busy == pft_session->pid)
		return;
	opened.busy = pft_session->pid;
	look_again(seen == 0);
	opened.busy = 0;
	// Unless another thread has come to doubt meanwhile.
	__atomic_compare_exchange_n(&opened.seen, &seen, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static struct state *state_at(uintptr_t address)
{
	for (size_t i = 0; i < opened.list->count; i++)
		if (address - opened.list->objects[i].low <
			opened.list->objects[i].high - opened.list->objects[i].low)
			return &opened.list->states[i];
	return NULL;
}

void pft_opened_initialise(uintptr_t address)
{
	struct state *state;

	if (!opened.list || pft_objects_at(opened.start, address))
		return;
	state = state_at(address);
	if (state && state->initialised) {
		state->reopened = true;
		pft_opened_doubt();
	}
	pft_opened_look();
	state = state_at(address);
	if (state)
		state->initialised = true;
}

void pft_opened_doubt(void)
{
	__atomic_store_n(&opened.seen, 0, __ATOMIC_RELAXED);
}
