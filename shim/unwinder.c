// SPDX-License-Identifier: MIT
// Asking libunwind: see unwinder.h. The rule: it reads nothing but unwind tables of objects that are mapped.
// The registers that it is given are made up, each far from the others and from any address there is, and so
// is the memory that they point to: what it makes of them tells what it did.
//
// Why not let it walk: its own address space takes the loader's lock and locks of its own, and reads what it
// finds on the stack; an answer takes 5 us and a signal mask changed four times. By rules a step takes a few
// nanoseconds, touches no lock and reads only what was checked.
#include "shim/unwinder.h"

#include <dlfcn.h>
#include <libunwind-x86_64.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "shim/hot/learn.h"
#include "shim/hot/rules.h"
#include "shim/log.h"
#include "shim/mapped.h"

#define LIBRARY "libunwind-x86_64.so.8"
#define ITS_OTHER_PART "libunwind.so.8"

// The made-up value of register r, and of the word at a made-up address a: a + LOADED.
#define REGISTER(r) ((UINT64_C(1) << 62) + ((uint64_t)((r) + 1) << 40))
#define LOADED (UINT64_C(1) << 61)

#define SP REGISTER(UNW_X86_64_RSP)
#define BP REGISTER(UNW_X86_64_RBP)
#define BX REGISTER(UNW_X86_64_RBX)

// Frames are smaller than that.
#define FRAME_BYTES (UINT64_C(1) << 23)

static struct {
	unw_addr_space_t (*create)(unw_accessors_t *accessors, int byte_order);
	int (*set_caching)(unw_addr_space_t space, unw_caching_policy_t policy);
	int (*init)(unw_cursor_t *cursor, unw_addr_space_t space, void *argument);
	int (*step)(unw_cursor_t *cursor);
	int (*get)(unw_cursor_t *cursor, int number, unw_word_t *value);
	int (*search)(unw_addr_space_t space, unw_word_t address, unw_dyn_info_t *table,
		unw_proc_info_t *found, int need_tables, void *argument);
} libunwind;

static unw_addr_space_t space;
static bool wanted, opened, owns_other_part;
static const struct pft_objects *start_objects;

// ---- what it is told --------------------------------------------------------------------------------

// The question that it works on.
static struct {
	const struct pft_mapped *object;
	uintptr_t address;
	bool no_table; // it guesses then; we do not
} now;

static bool is_made_up(uintptr_t address)
{
	return address >> 61 != 0;
}

static int read_memory(unw_addr_space_t in, unw_word_t address, unw_word_t *value, int write, void *argument)
{
	(void)in, (void)argument;
	if (write || now.no_table)
		return -UNW_EINVAL;
	if (is_made_up(address)) {
		*value = address + LOADED;
		return 0;
	}
	// Tables are read byte by byte, but in whole words.
	if (!pft_mapped_holds(now.object, address, sizeof(*value)))
		return -UNW_EINVAL;
	memcpy(value, (const void *)address, sizeof(*value));
	return 0;
}

static int read_register(
	unw_addr_space_t in, unw_regnum_t number, unw_word_t *value, int write, void *argument)
{
	(void)in, (void)argument;
	if (write)
		return -UNW_EREADONLYREG;
	*value = number == UNW_X86_64_RIP ? now.address : REGISTER(number);
	return 0;
}

// The header of .eh_frame_hdr (LSB 5.0 core, 10.6.2), as linkers write it: version 1, a sorted table of two
// 32-bit offsets an entry, counted from the header.
struct index_header {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

#define COUNT_ENCODING 0x03 // udata4
#define TABLE_ENCODING 0x3b // datarel | sdata4

static bool find_table(unw_dyn_info_t *table)
{
	const struct index_header *header = (const void *)now.object->unwind_index;

	if (!header || !pft_mapped_holds(now.object, (uintptr_t)header, sizeof(*header)) ||
		header->version != 1 || header->count_encoding != COUNT_ENCODING ||
		header->table_encoding != TABLE_ENCODING)
		return false;
	*table = (unw_dyn_info_t){
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.start_ip = now.object->low,
		.end_ip = now.object->high,
		.u.rti =
			{
				.segbase = (uintptr_t)header,
				.table_data = (uintptr_t)(header + 1),
				.table_len = header->count * UINT64_C(8) / sizeof(unw_word_t),
			},
	};
	return true;
}

static int find_function(
	unw_addr_space_t in, unw_word_t address, unw_proc_info_t *found, int need_tables, void *argument)
{
	unw_dyn_info_t table;
	int result = find_table(&table) ? libunwind.search(in, address, &table, found, need_tables, argument)
					: -UNW_ENOINFO;

	now.no_table |= result < 0;
	return result;
}

static void put_function(unw_addr_space_t in, unw_proc_info_t *found, void *argument)
{
	(void)in, (void)found, (void)argument;
}

static int no_dynamic_list(unw_addr_space_t in, unw_word_t *list, void *argument)
{
	(void)in, (void)list, (void)argument;
	return -UNW_ENOINFO;
}

static int no_vector_register(
	unw_addr_space_t in, unw_regnum_t number, unw_fpreg_t *value, int write, void *argument)
{
	(void)in, (void)number, (void)value, (void)write, (void)argument;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t in, unw_cursor_t *cursor, void *argument)
{
	(void)in, (void)cursor, (void)argument;
	return -UNW_EINVAL;
}

static int no_name(
	unw_addr_space_t in, unw_word_t address, char *name, size_t size, unw_word_t *offset, void *argument)
{
	(void)in, (void)address, (void)name, (void)size, (void)offset, (void)argument;
	return -UNW_ENOINFO;
}

// ---- what it answers --------------------------------------------------------------------------------

struct caller {
	unw_word_t ip, sp, bp;
};

static bool is_near(uint64_t value, uint64_t base)
{
	return value - base < FRAME_BYTES;
}

// Where the caller's rbp is, from the frame's upper end: in words of the rule. False when it is elsewhere.
static bool find_bp(struct pft_rule *rule, const struct caller *caller)
{
	rule->bp = caller->bp == BP ? 0 : (int64_t)(caller->bp - LOADED - caller->sp);
	return caller->bp == BP || (rule->bp < 0 && rule->bp > -(int64_t)FRAME_BYTES);
}

static bool is_call(struct pft_rule *rule, const struct caller *caller)
{
	if (caller->ip != caller->sp - 8 + LOADED || !find_bp(rule, caller))
		return false;
	if (is_near(caller->sp, SP)) {
		rule->kind = PFT_RULE_SP;
		rule->cfa = (int64_t)(caller->sp - SP);
	} else if (is_near(caller->sp, BP)) {
		rule->kind = PFT_RULE_BP;
		rule->cfa = (int64_t)(caller->sp - BP);
	}
	return rule->kind != PFT_RULE_CUT;
}

// A function that aligns its stack keeps its upper end below rbp, and the caller's rbp at rbp (gcc, DRAP).
static bool is_aligned(struct pft_rule *rule, const struct caller *caller)
{
	uint64_t below = BP + LOADED - caller->sp;

	if (caller->ip != caller->sp - 8 + LOADED || caller->bp != BP + LOADED || below > FRAME_BYTES)
		return false;
	rule->kind = PFT_RULE_ALIGNED;
	rule->cfa = (int64_t)below;
	rule->bp = 0;
	return true;
}

static bool is_signal(struct pft_rule *rule, const struct caller *caller)
{
	if (caller->ip != SP + PFT_SIGNAL_IP + LOADED || caller->sp != SP + PFT_SIGNAL_SP + LOADED ||
		caller->bp != SP + PFT_SIGNAL_BP + LOADED)
		return false;
	*rule = (struct pft_rule){.kind = PFT_RULE_SIGNAL, .mapping = rule->mapping};
	return true;
}

// Where the trampoline's frame record holds the return address, it belongs to the slot below the frame's end.
static bool is_record(struct pft_rule *rule, const struct caller *caller)
{
	if (caller->ip != BX + LOADED - 1 || !is_near(caller->sp, SP) || caller->bp != BP)
		return false;
	*rule = (struct pft_rule){
		.kind = PFT_RULE_SP, .cfa = (int64_t)(caller->sp - SP), .mapping = rule->mapping};
	return true;
}

static void classify(struct pft_rule *rule, const struct caller *caller)
{
	bool own = now.object->self;

	if (is_call(rule, caller) || (own && is_record(rule, caller))) {
		if (own)
			rule->kind = rule->kind == PFT_RULE_SP ? PFT_RULE_OWN : PFT_RULE_CUT;
		return;
	}
	rule->kind = PFT_RULE_CUT;
	if (!is_aligned(rule, caller))
		is_signal(rule, caller);
}

static void ask(struct pft_rule *rule)
{
	struct caller caller = {0};
	unw_cursor_t cursor;
	int result = libunwind.init(&cursor, space, NULL);

	if (result == 0)
		result = libunwind.step(&cursor);
	if (result == 0 && !now.no_table)
		rule->kind = PFT_RULE_END;
	if (result <= 0 || now.no_table || libunwind.get(&cursor, UNW_REG_IP, &caller.ip) < 0 ||
		libunwind.get(&cursor, UNW_REG_SP, &caller.sp) < 0 ||
		libunwind.get(&cursor, UNW_X86_64_RBP, &caller.bp) < 0)
		return;
	classify(rule, &caller);
}

// Runs aside, for pft_learn.
static bool answer(void)
{
	struct pft_rule rule = {.kind = PFT_RULE_CUT};

	now.address = pft_question.address;
	now.object = pft_mapped_at(now.address);
	now.no_table = false;
	if (now.object) {
		rule.mapping = now.object->number;
		ask(&rule);
	}
	if (pft_rule_pack(rule, &pft_question.word))
		return true;
	return pft_rule_pack(
		(struct pft_rule){.kind = PFT_RULE_CUT, .mapping = rule.mapping}, &pft_question.word);
}

// ---- opening ----------------------------------------------------------------------------------------

void pft_unwinder_start(const struct pft_objects *objects)
{
	start_objects = objects;
	wanted = true;
}

static bool is_loaded(const char *name)
{
	for (size_t i = 0; i < start_objects->count; i++)
		if (strcmp(start_objects->all[i].name, name) == 0)
			return true;
	return false;
}

bool pft_unwinder_owns(const struct pft_object *object)
{
	return opened && (strcmp(object->name, LIBRARY) == 0 ||
				 (owns_other_part && strcmp(object->name, ITS_OTHER_PART) == 0));
}

static void *function_in(const struct pft_object *object, const char *name)
{
	const Elf64_Sym *symbol = pft_object_symbol(object, name);

	return symbol ? (void *)(object->bias + symbol->st_value) : NULL;
}

static bool find_functions(const struct link_map *map)
{
	struct pft_object object;

	pft_object_read(&object, map, true);
	if (!object.symbols)
		return false;
	libunwind.create = function_in(&object, "_Ux86_64_create_addr_space");
	libunwind.set_caching = function_in(&object, "_Ux86_64_set_caching_policy");
	libunwind.init = function_in(&object, "_Ux86_64_init_remote");
	libunwind.step = function_in(&object, "_Ux86_64_step");
	libunwind.get = function_in(&object, "_Ux86_64_get_reg");
	libunwind.search = function_in(&object, "_Ux86_64_dwarf_search_unwind_table");
	return libunwind.create && libunwind.set_caching && libunwind.init && libunwind.step &&
	       libunwind.get && libunwind.search;
}

static bool make_space(void)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_function,
		.put_unwind_info = put_function,
		.get_dyn_info_list_addr = no_dynamic_list,
		.access_mem = read_memory,
		.access_reg = read_register,
		.access_fpreg = no_vector_register,
		.resume = no_resume,
		.get_proc_name = no_name,
	};

	space = libunwind.create(&accessors, 0);
	return space && libunwind.set_caching(space, UNW_CACHE_NONE) == 0;
}

// Its first answer takes memory and makes tables: here, and not in the middle of something.
static void warm_up(void)
{
	pft_question.address = (uintptr_t)warm_up;
	answer();
}

static const char *open_it(void)
{
	void *handle;

	if (is_loaded(LIBRARY))
		return "the program uses " LIBRARY " itself";
	owns_other_part = !is_loaded(ITS_OTHER_PART);
	opened = true;
	// Local, so that the _Unwind_ functions that it exports come to nobody's scope; bound now, so that
	// nothing is left to the loader.
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		dlerror(); // it is ours, not the program's
		return LIBRARY " (package libunwind8) cannot be opened";
	}
	return find_functions(handle) && make_space() ? NULL : LIBRARY " is not the one that is known";
}

void pft_unwinder_open(void)
{
	const char *refusal;

	// The C library sets `environ` when it is initialised; opening would initialise it too early.
	if (!wanted || !environ)
		return;
	wanted = false;
	refusal = open_it();
	if (refusal) {
		pft_log_say("PFT_STACKS: ", refusal, ": calls are recorded without stacks", NULL);
		return;
	}
	warm_up();
	__atomic_store_n(&pft_unwinder, answer, __ATOMIC_RELEASE);
}
