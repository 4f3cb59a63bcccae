// SPDX-License-Identifier: MIT
// Reads and diverts the slots of one object. Called at startup by hooks.c, and after dlopen by an app
// thread. The rule: all that can fail comes before the first store, and each store leaves the object in
// working order: calls may run and the loader may resolve in other threads meanwhile.
#include "shim/slots.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/lazy.h"

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

// False for a weak function that nobody defines.
static bool slot_fill(const struct pft_object *object, const Elf64_Rela *relocation, struct pft_slot *slot)
{
	size_t symbol = ELF64_R_SYM(relocation->r_info);

	slot->address = (void **)(object->bias + relocation->r_offset);
	slot->symbol = object->strings + object->symbols[symbol].st_name;
	slot->version = pft_object_version(object, symbol);
	slot->value = __atomic_load_n(slot->address, __ATOMIC_RELAXED);
	return slot->value != NULL;
}

static bool jump_read(const struct pft_object *object, size_t index, struct pft_slot *slot)
{
	const Elf64_Rela *jump = object->jumps + index;
	size_t symbol = ELF64_R_SYM(jump->r_info);

	if (ELF64_R_TYPE(jump->r_info) != R_X86_64_JUMP_SLOT || symbol == STN_UNDEF)
		return false;
	// An entry that was aimed at a cell by an earlier change is done with.
	if (!inside((void *)(object->bias + jump->r_offset), object->low, object->high))
		return false;
	if (!slot_fill(object, jump, slot))
		return false;
	slot->index = index;
	slot->lazy = is_lazy(object, object->symbols + symbol, slot->value);
	slot->wants_index = slot->lazy && pft_lazy_wants_index(slot->value);
	slot->data = false;
	return true;
}

// Where a library was linked without those that it needs, its references have no type.
static bool may_be_function(const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static bool is_data_slot(const struct pft_object *object, const Elf64_Rela *relocation)
{
	return ELF64_R_TYPE(relocation->r_info) == R_X86_64_GLOB_DAT &&
	       may_be_function(object->symbols + ELF64_R_SYM(relocation->r_info));
}

static bool data_read(const struct pft_object *object, size_t index, struct pft_slot *slot)
{
	const Elf64_Rela *relocation = object->relocations + index;

	if (!is_data_slot(object, relocation) || !slot_fill(object, relocation, slot))
		return false;
	slot->index = index;
	slot->lazy = slot->wants_index = false;
	slot->data = true;
	return true;
}

size_t pft_slots_count(const struct pft_object *object)
{
	size_t count = object->jump_count;

	for (size_t i = object->relative_count; i < object->relocation_count; i++)
		count += is_data_slot(object, object->relocations + i);
	return count;
}

int pft_slots_each(const struct pft_object *object, int (*visit)(void *context, const struct pft_slot *slot),
	void *context)
{
	struct pft_slot slot;
	int result = 0;

	for (size_t i = 0; i < object->jump_count && result == 0; i++)
		if (jump_read(object, i, &slot))
			result = visit(context, &slot);
	for (size_t i = object->relative_count; i < object->relocation_count && result == 0; i++)
		if (data_read(object, i, &slot))
			result = visit(context, &slot);
	return result;
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
		change->kept = (struct pft_slots_kept){.jumps = copy, .jump_count = object->jump_count};
	return (int)result;
}

void pft_slots_drop(struct pft_slots_kept *kept)
{
	if (kept->jumps)
		pft_sys_munmap(kept->jumps, kept->jump_count * sizeof(*kept->jumps));
	pft_lazy_unmap(kept->ways, kept->way_count);
	*kept = (struct pft_slots_kept){0};
}

bool pft_slots_table_is_copy(const struct pft_object *object)
{
	return object->jumps && !inside(object->jumps, object->low, object->high);
}

static bool touches_relro(const struct pft_slots_change *change)
{
	const struct pft_object *object = change->object;

	if (change->kept.jumps && inside(object->jump_entry, object->relro, object->relro_end))
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

	change->kept = (struct pft_slots_kept){0};
	if (any_lazy(change))
		result = copy_jumps(change);
	if (result == 0)
		result = pft_lazy_make_ways(change);
	if (result == 0)
		result = protect_relro(change, PROT_READ | PROT_WRITE);
	if (result)
		pft_slots_drop(&change->kept);
	return result;
}

// From here on the resolver writes what it finds to the cells. By difference, since the loader keeps the
// pointer with or without the bias, as it found it.
static void swing_table(const struct pft_slots_change *change)
{
	const struct pft_object *object = change->object;
	Elf64_Addr *pointer = &object->jump_entry->d_un.d_ptr;

	__atomic_store_n(pointer, *pointer + (uintptr_t)change->kept.jumps - (uintptr_t)object->jumps,
		__ATOMIC_RELEASE);
}

void pft_slots_commit(struct pft_slots_change *change)
{
	for (size_t i = 0; i < change->count; i++)
		__atomic_store_n(change->plans[i].cell, change->plans[i].slot.value, __ATOMIC_RELAXED);
	if (change->kept.jumps)
		swing_table(change);
	// A thread that follows a thunk finds its cell filled; aligned stores of 8 bytes are never seen in
	// halves.
	for (size_t i = 0; i < change->count; i++)
		__atomic_store_n(change->plans[i].slot.address, change->plans[i].thunk, __ATOMIC_RELEASE);
	protect_relro(change, PROT_READ);
}
