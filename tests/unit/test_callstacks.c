// SPDX-License-Identifier: MIT
// Unit tests of encoder/callstacks.c: stacks in whole traces, as another reader reads them. Run by Criterion.
#include "encoder/callstacks.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

#define START UINT64_C(1000000000)

static struct pft_session *session;
static struct pft_trace *trace;
static struct pft_track *thread;
static uint32_t hook, mapping;
static uint64_t outer, inner; // addresses in the mapping
static int fd;

static __attribute__((noinline)) int outer_function(int x)
{
	__asm__ volatile("");
	return x + 1;
}

static __attribute__((noinline)) int inner_function(int x)
{
	__asm__ volatile("");
	return x + 2;
}

// This program, as it is mapped.
static void map_program(void)
{
	struct link_map *map;
	Dl_info about;

	cr_assert(dladdr1((void *)outer_function, &about, (void **)&map, RTLD_DL_LINKMAP));
	mapping = pft_fake_mapping(session, "/proc/self/exe", (uintptr_t)about.dli_fbase);
	pft_session_mapping(session, mapping)->bias = map->l_addr;
	outer = (uintptr_t)outer_function + 1;
	inner = (uintptr_t)inner_function + 1;
}

static void start(void)
{
	const struct pft_clocks clocks = {START, START - 100, UINT64_C(1700000000000000000)};

	session = pft_fake_session(4096, 4);
	hook = pft_fake_hook(session, "libz.so.1", "inflate");
	map_program();
	fd = pft_reader_file();
	trace = pft_trace_open(session, fd, clocks, 0);
	thread = pft_trace_thread(trace, 4321, "worker");
}

TestSuite(callstacks, .init = start);

static const struct pft_reader_lines *close_and_read(void)
{
	cr_assert_eq(pft_trace_close(trace, (struct pft_totals){0}), 0);
	return pft_reader_slices(fd);
}

static uint32_t stack_of_both(void)
{
	return pft_fake_frame(session, mapping, inner, pft_fake_frame(session, mapping, outer, 0));
}

static void call_from(struct pft_track *track, uint64_t ns, uint32_t stack)
{
	pft_trace_begin(track, START + ns, hook, stack);
	pft_trace_end(track, START + ns + 1, 0);
}

#define BOTH "\"callstack\": [\"outer_function\", \"inner_function\"]"

Test(callstacks, name_functions_from_the_outermost_to_the_innermost)
{
	const struct pft_reader_lines *lines;

	call_from(thread, 5, stack_of_both());
	lines = close_and_read();
	cr_assert_eq(lines->count, 1);
	cr_assert(pft_reader_says(lines, 0, BOTH), "%s", lines->line[0]);
}

static unsigned count_interned(const Pft__Proto__Trace *packets, size_t offset)
{
	unsigned count = 0;

	for (size_t i = 0; i < packets->n_packet; i++)
		if (packets->packet[i]->interned_data)
			count += *(size_t *)((char *)packets->packet[i]->interned_data + offset);
	return count;
}

#define COUNT(packets, field) count_interned(packets, offsetof(Pft__Proto__InternedData, n_##field))

Test(callstacks, are_defined_once_in_a_sequence)
{
	uint32_t both = stack_of_both();
	const Pft__Proto__Trace *packets;

	for (uint64_t i = 0; i < 10; i++)
		call_from(thread, 5 * i, both);
	call_from(thread, 100, pft_session_frame(session, both)->caller);
	close_and_read();
	packets = pft_reader_packets(fd);
	cr_assert_eq(COUNT(packets, callstacks), 2);
	cr_assert_eq(COUNT(packets, frames), 2);
	cr_assert_eq(COUNT(packets, function_names), 2);
	cr_assert_eq(COUNT(packets, mappings), 1);
	cr_assert_eq(COUNT(packets, mapping_paths), 1);
}

Test(callstacks, are_defined_anew_in_each_sequence_and_after_each_gap)
{
	struct pft_track *other = pft_trace_thread(trace, 4322, "other");
	const struct pft_reader_lines *lines;
	uint32_t both = stack_of_both();

	call_from(thread, 5, both);
	call_from(other, 15, both);
	pft_trace_gap(thread, START + 20, 3);
	call_from(thread, 25, both);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	for (size_t i = 0; i < 3; i++)
		cr_assert(pft_reader_says(lines, i, BOTH), "%s", lines->line[i]);
	cr_assert_eq(COUNT(pft_reader_packets(fd), callstacks), 3);
}

Test(callstacks, share_frames_and_names)
{
	uint32_t both = stack_of_both();
	const Pft__Proto__Trace *packets;

	call_from(thread, 5, both);
	call_from(thread, 15, pft_fake_frame(session, mapping, inner, both));
	call_from(thread, 25, pft_fake_frame(session, mapping, inner + 1, both));
	close_and_read();
	packets = pft_reader_packets(fd);
	cr_assert_eq(COUNT(packets, callstacks), 3);
	cr_assert_eq(COUNT(packets, frames), 3);
	cr_assert_eq(COUNT(packets, function_names), 2);
}

static const Pft__Proto__TrackEvent *event_of(
	const Pft__Proto__Trace *packets, Pft__Proto__TrackEvent__Type type)
{
	for (size_t i = 0; i < packets->n_packet; i++)
		if (packets->packet[i]->track_event && packets->packet[i]->track_event->type == type)
			return packets->packet[i]->track_event;
	cr_assert_fail("no such event");
	return NULL;
}

Test(callstacks, stand_at_an_end_that_knows_more_than_its_begin)
{
	const Pft__Proto__Trace *packets;

	pft_trace_begin(thread, START, hook, 0);
	pft_trace_end(thread, START + 9, stack_of_both());
	close_and_read();
	packets = pft_reader_packets(fd);
	cr_assert_not(event_of(packets, PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)->has_callstack_iid);
	cr_assert_eq(event_of(packets, PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_END)->callstack_iid, 1);
}

static const Pft__Proto__Mapping *mapping_in(const Pft__Proto__Trace *packets)
{
	for (size_t i = 0; i < packets->n_packet; i++)
		if (packets->packet[i]->interned_data && packets->packet[i]->interned_data->n_mappings)
			return packets->packet[i]->interned_data->mappings[0];
	return NULL;
}

Test(callstacks, say_where_objects_were_mapped)
{
	struct pft_session_mapping *known = pft_session_mapping(session, mapping);
	const Pft__Proto__Mapping *shown;

	memcpy(known->build_id, "0123456789", 10);
	known->build_id_bytes = 10;
	call_from(thread, 5, stack_of_both());
	cr_assert_eq(pft_trace_close(trace, (struct pft_totals){0}), 0);
	shown = mapping_in(pft_reader_packets(fd));
	cr_assert_not_null(shown);
	cr_assert_eq(shown->start, known->start);
	cr_assert_eq(shown->end, known->end);
	cr_assert_eq(shown->load_bias, known->bias);
	cr_assert_eq(shown->build_id, shown->iid);
	cr_assert_eq(shown->n_path_string_ids, 1);
}

// What is not in a known object, or no tree: the trace stays right.
Test(callstacks, leave_out_what_makes_no_sense)
{
	uint32_t lost = pft_fake_frame(session, 77, outer, 0);
	uint32_t loop = pft_fake_frame(session, mapping, inner, session->frames);
	uint32_t nameless =
		pft_fake_frame(session, mapping, pft_session_mapping(session, mapping)->bias + 1, 0);
	const struct pft_reader_lines *lines;

	call_from(thread, 5, lost);
	call_from(thread, 15, loop);
	call_from(thread, 25, nameless);
	lines = close_and_read();
	cr_assert_eq(lines->count, 3);
	cr_assert_not(pft_reader_says(lines, 0, "callstack"));
	cr_assert(pft_reader_says(lines, 1, "\"callstack\": [\"inner_function\"]"), "%s", lines->line[1]);
	cr_assert(pft_reader_says(lines, 2, "\"callstack\": [\"?\"]"), "%s", lines->line[2]);
}

Test(callstacks, lose_their_outer_end_when_they_are_too_deep)
{
	const Pft__Proto__Trace *packets;
	uint32_t frame = pft_fake_frame(session, mapping, outer, 0);

	for (unsigned i = 0; i < 2 * PFT_CALLSTACK_FRAMES; i++)
		frame = pft_fake_frame(session, mapping, inner, frame);
	call_from(thread, 5, frame);
	close_and_read();
	packets = pft_reader_packets(fd);
	cr_assert_eq(COUNT(packets, function_names), 1);
	for (size_t i = 0; i < packets->n_packet; i++)
		if (packets->packet[i]->interned_data && packets->packet[i]->interned_data->n_callstacks)
			cr_assert_eq(packets->packet[i]->interned_data->callstacks[0]->n_frame_ids,
				PFT_CALLSTACK_FRAMES);
}

static int64_t stacks_cut(const Pft__Proto__Trace *packets)
{
	int64_t found = -1;

	for (size_t i = 0; i < packets->n_packet; i++) {
		const Pft__Proto__TraceAttributes *all = packets->packet[i]->trace_attributes;

		for (size_t j = 0; all && j < all->n_attribute; j++)
			if (strcmp(all->attribute[j]->key, "pftshim.stacks_cut") == 0)
				found = all->attribute[j]->long_value;
	}
	return found;
}

Test(callstacks, are_counted_where_there_was_no_room_for_them)
{
	session->stacks_cut = 17;
	close_and_read();
	cr_assert_eq(stacks_cut(pft_reader_packets(fd)), 17);
}

Test(callstacks, are_not_spoken_of_where_none_are_taken)
{
	session->frames_max = 0;
	close_and_read();
	cr_assert_eq(stacks_cut(pft_reader_packets(fd)), -1);
}
