// SPDX-License-Identifier: MIT
// Reads and diverts the PLT slots of one object. Called at startup by hooks.c, and after dlopen by an app
// thread. The rule: all that can fail comes before the first store, and each store leaves the object in
// working order: calls may run and the loader may resolve in other threads meanwhile.
#include "shim/slots.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"

static bool inside(const void *address, uintptr_t low, uintptr_t high)
{
	return (uintptr_t)address >= low && (uintptr_t)address < high;
}

// The object's own function is what its own calls are bound to as well.
static bool is_own_function(const struct pft_object *object, const Elf64_Sym *symbol, const void *value)
{
	return symbol->st_shndx != SHN_UNDEF && object->bias + symbol->st_value == (uintptr_t)value;
}

// An unresolved slot leads back into the object's own PLT. A slot that is bound to an own function of another
// address (an IFUNC's choice, a second version) is taken for one too: the entry of the table is moved in vain
// then.
static bool is_lazy(const struct pft_object *object, const Elf64_Sym *symbol, const void *value)
{
	return !object->bind_now && inside(value, object->low, object->high) &&
	       !is_own_function(object, symbol, value);
}

static bool slot_read(const struct pft_object *object, size_t index, struct pft_slot *slot)
{
	const Elf64_Rela *jump = object->jumps + index;
	size_t symbol_index = ELF64_R_SYM(jump->r_info);
	const Elf64_Sym *symbol = object->symbols + symbol_index;

	if (ELF64_R_TYPE(jump->r_info) != R_X86_64_JUMP_SLOT || symbol_index == STN_UNDEF)
		return false;
	slot->address = (void **)(object->bias + jump->r_offset);
	// An entry that was aimed at a cell by an earlier change is done with.
	if (!inside(slot->address, object->low, object->high))
		return false;
	slot->symbol = object->strings + symbol->st_name;
	slot->version = pft_object_version(object, symbol_index);
	slot->index = index;
	slot->value = __atomic_load_n(slot->address, __ATOMIC_RELAXED);
	slot->lazy = is_lazy(object, symbol, slot->value);
	// A weak function that nobody defines.
	return slot->value != NULL;
}

int pft_slots_each(const struct pft_object *object, int (*visit)(void *context, const struct pft_slot *slot),
	void *context)
{
	struct pft_slot slot;

	for (size_t i = 0; i < object->jump_count; i++) {
		int result = slot_read(object, i, &slot) ? visit(context, &slot) : 0;

		if (result)
			return result;
	}
	return 0;
}

static bool any_lazy(const struct pft_slots_change *change)
{
	for (size_t i = 0; i < change->count; i++)
		if (change->plans[i].slot.lazy)
			return true;
	return false;
}

// The copy covers the whole table: a stub hands the resolver the index of its entry.
static int copy_jumps(struct pft_slots_change *change)
{
	const struct pft_object *object = change->object;
	size_t bytes = object->jump_count * sizeof(*object->jumps);
	Elf64_Rela *copy;
	long result;

	if (!object->jump_entry)
		return -ENOTSUP;
	copy = pft_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pft_sys_failed(copy))
		return (int)(intptr_t)copy;
	memcpy(copy, object->jumps, bytes);
	for (size_t i = 0; i < change->count; i++)
		if (change->plans[i].slot.lazy)
			copy[change->plans[i].slot.index].r_offset =
				(uintptr_t)change->plans[i].cell - object->bias;
	result = pft_sys_mprotect(copy, bytes, PROT_READ);
	if (result)
		pft_sys_munmap(copy, bytes);
	else
		change->jumps = copy;
	return (int)result;
}

void pft_slots_drop_table(Elf64_Rela *jumps, size_t count)
{
	if (jumps)
		pft_sys_munmap(jumps, count * sizeof(*jumps));
}

bool pft_slots_table_is_copy(const struct pft_object *object)
{
	return object->jumps && !inside(object->jumps, object->low, object->high);
}

static bool touches_relro(const struct pft_slots_change *change)
{
	const struct pft_object *object = change->object;

	if (change->jumps && inside(object->jump_entry, object->relro, object->relro_end))
		return true;
	for (size_t i = 0; i < change->count; i++)
		if (inside(change->plans[i].slot.address, object->relro, object->relro_end))
			return true;
	return false;
}

// The loader made this range read-only as one, after it had filled the slots in; so it is one mapping. What
// lies outside of it is writable still, or the loader could not have filled it in.
static int protect_relro(const struct pft_slots_change *change, int protection)
{
	const struct pft_object *object = change->object;

	if (!touches_relro(change))
		return 0;
	return (int)pft_sys_mprotect((void *)object->relro, object->relro_end - object->relro, protection);
}

int pft_slots_prepare(struct pft_slots_change *change)
{
	int result = 0;

	change->jumps = NULL;
	if (any_lazy(change))
		result = copy_jumps(change);
	if (result == 0)
		result = protect_relro(change, PROT_READ | PROT_WRITE);
	if (result) {
		pft_slots_drop_table(change->jumps, change->object->jump_count);
		change->jumps = NULL;
	}
	return result;
}

// From here on the resolver writes what it finds to the cells. By difference, since the loader keeps the
// pointer with or without the bias, as it found it.
static void swing_table(const struct pft_slots_change *change)
{
	const struct pft_object *object = change->object;
	Elf64_Addr *pointer = &object->jump_entry->d_un.d_ptr;

	__atomic_store_n(
		pointer, *pointer + (uintptr_t)change->jumps - (uintptr_t)object->jumps, __ATOMIC_RELEASE);
}

void pft_slots_commit(struct pft_slots_change *change)
{
	for (size_t i = 0; i < change->count; i++)
		__atomic_store_n(change->plans[i].cell, change->plans[i].slot.value, __ATOMIC_RELAXED);
	if (change->jumps)
		swing_table(change);
	// A thread that follows a thunk finds its cell filled; aligned stores of 8 bytes are never seen in
	// halves.
	for (size_t i = 0; i < change->count; i++)
		__atomic_store_n(change->plans[i].slot.address, change->plans[i].thunk, __ATOMIC_RELEASE);
	protect_relro(change, PROT_READ);
}
