// SPDX-License-Identifier: MIT
// Defining callstacks: see callstacks.h. Flusher context. The tree of frames lies in memory that the program
// can write to: a caller's number is smaller than its callee's, or the stack ends there.
#include "encoder/callstacks.h"

#include "encoder/array.h"
#include "encoder/demangle.h"
#include "encoder/functions.h"
#include "encoder/session.h"

struct definer {
	struct pft_callstacks *callstacks;
	struct pft_stacks *stacks;
	const struct pft_packets *packets;
	uint32_t sequence;
};

static uint64_t address_of(uint64_t code)
{
	return code & ((UINT64_C(1) << PFT_MAPPING_SHIFT) - 1);
}

// NULL when the session has no such mapping.
static const struct pft_session_mapping *mapping_of(struct pft_session *session, uint64_t code)
{
	uint32_t mapping = (uint32_t)(code >> PFT_MAPPING_SHIFT);
	uint32_t mappings = __atomic_load_n(&session->mappings, __ATOMIC_ACQUIRE);

	return mapping && mapping < mappings ? pft_session_mapping(session, mapping) : NULL;
}

static const char *path_of(struct pft_session *session, const struct pft_session_mapping *mapping)
{
	return pft_session_string(session, mapping->path < session->strings_bytes ? mapping->path : 0);
}

static size_t build_id_bytes(const struct pft_session_mapping *mapping)
{
	return mapping->build_id_bytes < PFT_BUILD_ID ? mapping->build_id_bytes : PFT_BUILD_ID;
}

// ---- names of functions -----------------------------------------------------------------------------

static const struct pft_functions *functions_of(
	struct pft_stacks *stacks, const struct pft_session_mapping *mapping, uint32_t number)
{
	if (number >= stacks->functions_room) {
		void *grown = pft_array_grow(stacks->memory, stacks->functions, &stacks->functions_room,
			number, sizeof(struct pft_functions *));

		if (!grown)
			return NULL;
		stacks->functions = grown;
	}
	if (!stacks->functions[number])
		stacks->functions[number] = pft_functions_read(path_of(stacks->session, mapping),
			mapping->build_id, build_id_bytes(mapping), stacks->memory);
	return stacks->functions[number];
}

// The string of the function's name; 0 when it has none.
static uint32_t look_up(struct pft_stacks *stacks, const struct pft_session_mapping *mapping, uint64_t code)
{
	const struct pft_functions *functions =
		functions_of(stacks, mapping, (uint32_t)(code >> PFT_MAPPING_SHIFT));
	struct pft_arena_mark mark = pft_arena_mark(stacks->scratch);
	const char *symbol = NULL, *demangled;
	uint32_t string = 0;

	if (functions)
		symbol = pft_functions_name(functions, address_of(code) - mapping->bias, stacks->scratch);
	if (symbol) {
		demangled = pft_demangle(symbol, 0, stacks->scratch);
		string = pft_strings_number(stacks->strings, demangled ? demangled : symbol);
	}
	pft_arena_release(stacks->scratch, mark);
	return string;
}

// Tables hold no 0, so they hold one more.
static uint32_t name_of(struct pft_stacks *stacks, const struct pft_session_mapping *mapping, uint64_t code)
{
	uint32_t known = pft_table_get(&stacks->names, code);

	if (!known) {
		known = look_up(stacks, mapping, code) + 1;
		pft_table_put(&stacks->names, stacks->memory, code, known);
	}
	return known - 1;
}

// ---- definitions ------------------------------------------------------------------------------------

// Gives `key` the next iid; 0 when out of memory.
static uint32_t give(struct definer *definer, struct pft_table *table, uint64_t key)
{
	uint32_t iid = table->used + 1;

	return pft_table_put(table, definer->stacks->memory, key, iid) ? iid : 0;
}

static uint32_t define_mapping(
	struct definer *definer, const struct pft_session_mapping *mapping, uint64_t code)
{
	struct pft_table *table = &definer->callstacks->mappings;
	uint64_t key = code >> PFT_MAPPING_SHIFT;
	uint32_t iid = pft_table_get(table, key);

	if (iid)
		return iid;
	iid = give(definer, table, key);
	if (iid)
		pft_packet_mapping(definer->packets, definer->sequence,
			&(struct pft_mapping){
				.iid = iid,
				.start = mapping->start,
				.end = mapping->end,
				.bias = mapping->bias,
				.path = path_of(definer->stacks->session, mapping),
				.build_id = mapping->build_id,
				.build_id_bytes = build_id_bytes(mapping),
			});
	return iid;
}

static void fill_function(struct definer *definer, struct pft_frame_definition *frame, uint32_t string)
{
	struct pft_table *table = &definer->callstacks->functions;

	frame->function_iid = pft_table_get(table, string);
	if (frame->function_iid || !string)
		return;
	frame->function_iid = give(definer, table, string);
	if (frame->function_iid)
		frame->function = pft_strings_text(definer->stacks->strings, string);
}

// 0 when out of memory, or the frame is in no mapping.
static uint32_t define_frame(struct definer *definer, uint64_t code)
{
	struct pft_table *table = &definer->callstacks->frames;
	const struct pft_session_mapping *mapping = mapping_of(definer->stacks->session, code);
	struct pft_frame_definition frame = {.iid = pft_table_get(table, code)};

	if (frame.iid || !mapping)
		return frame.iid;
	frame.mapping_iid = define_mapping(definer, mapping, code);
	frame.iid = frame.mapping_iid ? give(definer, table, code) : 0;
	if (!frame.iid)
		return 0;
	frame.address = address_of(code) - mapping->bias;
	fill_function(definer, &frame, name_of(definer->stacks, mapping, code));
	pft_packet_frame(definer->packets, definer->sequence, &frame);
	return frame.iid;
}

static uint32_t define_stack(struct definer *definer, uint32_t stack, uint64_t *frames)
{
	struct pft_session *session = definer->stacks->session;
	uint32_t first = PFT_CALLSTACK_FRAMES, iid;

	// From the innermost outwards; they are defined the other way round.
	for (uint32_t number = stack, caller; number && first; number = caller) {
		const struct pft_session_frame *frame = pft_session_frame(session, number);
		uint32_t frame_iid = define_frame(definer, frame->code);

		if (frame_iid)
			frames[--first] = frame_iid;
		caller = frame->caller < number ? frame->caller : 0;
	}
	if (first == PFT_CALLSTACK_FRAMES)
		return 0;
	iid = give(definer, &definer->callstacks->stacks, stack);
	if (iid)
		pft_packet_callstack(definer->packets, definer->sequence, iid, frames + first,
			PFT_CALLSTACK_FRAMES - first);
	return iid;
}

uint32_t pft_callstacks_define(struct pft_callstacks *callstacks, struct pft_stacks *stacks,
	const struct pft_packets *packets, uint32_t sequence, uint32_t stack)
{
	struct definer definer = {callstacks, stacks, packets, sequence};
	uint32_t iid = pft_table_get(&callstacks->stacks, stack);
	struct pft_arena_mark mark = pft_arena_mark(stacks->scratch);
	uint64_t *frames;

	if (iid)
		return iid;
	frames = pft_arena_alloc(stacks->scratch, PFT_CALLSTACK_FRAMES * sizeof(*frames));
	if (frames)
		iid = define_stack(&definer, stack, frames);
	pft_arena_release(stacks->scratch, mark);
	return iid;
}

void pft_callstacks_clear(struct pft_callstacks *callstacks)
{
	pft_table_clear(&callstacks->stacks);
	pft_table_clear(&callstacks->frames);
	pft_table_clear(&callstacks->functions);
	pft_table_clear(&callstacks->mappings);
}
