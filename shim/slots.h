// SPDX-License-Identifier: MIT
// The GOT slots of one object that calls go through, and how one is diverted. Startup context. JUMP_SLOTs
// serve the PLT and nothing else; GLOB_DAT slots hold a function's address for any use (code.h tells which).
// A slot that is bound holds its function: it is replaced, the function is the original. A slot that is
// still lazy holds the way into the loader's resolver, which finds the slot through the relocation table:
// the object gets a copy of that table whose entry points at our cell instead, so the loader resolves
// into the cell, with its exact scope, version and IFUNC rules, and the hook stays in the slot.
//
//   caller -> stub in .plt -> slot: thunk -> ... -> *cell: stub's second half -> resolver -> writes cell
#ifndef PFT_SLOTS_H
#define PFT_SLOTS_H

#include <stdbool.h>
#include <stddef.h>

#include "shim/objects.h"

struct pft_slot {
	void **address; // the slot
	const char *symbol; // as in the string table
	const char *version; // or NULL
	size_t index; // of its relocation: in object->jumps, or in object->relocations where it is data
	void *value; // what the slot holds now
	bool lazy; // the value leads to the resolver
	bool wants_index; // which finds the index in r11 (lazy.h)
	bool data; // a GLOB_DAT slot: code may read it
};

// One planned change: `slot` shall hold `thunk`; `cell` receives the original, now or when it is resolved.
struct pft_slot_plan {
	struct pft_slot slot;
	void *thunk;
	void **cell;
};

// Calls `visit` for each slot of the object that may hold a function, but for lazy ones that were diverted
// before and weak ones that nobody defines. Stops when it returns non-zero and returns that.
int pft_slots_each(const struct pft_object *object, int (*visit)(void *context, const struct pft_slot *slot),
	void *context);

// How many slots there are at most.
size_t pft_slots_count(const struct pft_object *object);

// What stays as long as the object: the loader uses it.
struct pft_slots_kept {
	Elf64_Rela *jumps; // the copy, when a plan is lazy; or NULL
	size_t jump_count;
	struct pft_lazy_way *ways; // where plans need them (lazy.h), or NULL
	size_t way_count;
};

// What an object needs so that its plans can be carried out without failing half way.
struct pft_slots_change {
	const struct pft_object *object;
	struct pft_slot_plan *plans;
	size_t count;
	struct pft_slots_kept kept; // made by prepare
};

// Makes the copy and the ways, and makes slots (and the dynamic entry) writable. 0, or -errno with nothing
// changed (-ENOTSUP: a lazy plan, but the dynamic section may not be written). After a commit the object must
// be scanned anew before its next change.
int pft_slots_prepare(struct pft_slots_change *change);

// Writes cells first, then the table, then slots; then RELRO is read-only as before. Cannot fail.
void pft_slots_commit(struct pft_slots_change *change);

// Whether the object's table is a copy that an earlier change made.
bool pft_slots_table_is_copy(const struct pft_object *object);

// Gives back what was made for an object which has been closed.
void pft_slots_drop(struct pft_slots_kept *kept);

#endif
