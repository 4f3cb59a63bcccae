// SPDX-License-Identifier: MIT
// Unit tests of encoder/packet.c: each packet as protobuf-c decodes it. Run by Criterion.
#include "encoder/packet.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "encoder/session.h"
#include "encoder/trace.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"

typedef Pft__Proto__TracePacket packet_message;

static struct pft_arena memory, scratch;
static struct pft_out out;
static struct pft_packets packets = {.out = &out, .scratch = &scratch};
static int fd;

static void start(void)
{
	fd = pft_reader_file();
	cr_assert_eq(pft_out_open(&out, fd, &memory), 0);
}

// The only packet that was written.
static const packet_message *written(void)
{
	const Pft__Proto__Trace *trace;

	cr_assert_eq(pft_out_flush(&out), 0);
	trace = pft_reader_packets(fd);
	cr_assert_eq(trace->n_packet, 1);
	return trace->packet[0];
}

TestSuite(packet, .init = start);

Test(packet, names_the_host_and_its_kernel)
{
	const packet_message *packet;
	struct utsname name;

	uname(&name);
	pft_packet_system(&packets, 7);
	packet = written();
	cr_assert_eq(packet->trusted_packet_sequence_id, 7);
	cr_assert_str_eq(packet->system_info->machine_name, name.nodename);
	cr_assert_str_eq(packet->system_info->utsname->release, name.release);
	cr_assert_str_eq(packet->system_info->utsname->machine, "x86_64");
}

Test(packet, describes_the_process)
{
	struct pft_session *session = pft_fake_session(4096, 1);
	const Pft__Proto__TrackDescriptor *track;

	pft_packet_process(&packets, 7, 1234, session);
	track = written()->track_descriptor;
	cr_assert_eq(track->uuid, 1234);
	cr_assert_eq(track->process->pid, getpid());
	cr_assert_str_eq(track->process->process_name, "program");
	cr_assert_eq(track->process->n_cmdline, 3);
	cr_assert_str_eq(track->process->cmdline[0], "/opt/fake/program");
	cr_assert_str_eq(track->process->cmdline[2], "second argument");
}

Test(packet, labels_the_process_with_what_it_comes_from)
{
	struct pft_session *session = pft_fake_session(4096, 1);
	const Pft__Proto__ProcessDescriptor *process;

	session->parent = (struct pft_relative){.real_ns = 1, .pid = 12, .process = "/bin/make"};
	session->before = (struct pft_relative){.real_ns = 1, .pid = 34, .process = "sh"};
	session->outer_pid = 56;
	pft_packet_process(&packets, 7, 1234, session);
	process = written()->track_descriptor->process;
	cr_assert_eq(process->n_process_labels, 3);
	cr_assert_str_eq(process->process_labels[0], "child of make (12)");
	cr_assert_str_eq(process->process_labels[1], "before exec sh (34)");
	cr_assert_str_eq(process->process_labels[2], "outside pid 56");
}

Test(packet, gives_a_process_of_unknown_origin_no_label)
{
	pft_packet_process(&packets, 7, 1234, pft_fake_session(4096, 1));
	cr_assert_eq(written()->track_descriptor->process->n_process_labels, 0);
}

Test(packet, shows_a_process_named_by_a_path_under_its_last_part)
{
	struct pft_session *session = pft_fake_session(4096, 1);

	strcpy(session->process, "/usr/bin/tool");
	pft_packet_process(&packets, 7, 1234, session);
	cr_assert_str_eq(written()->track_descriptor->process->process_name, "tool");
}

Test(packet, takes_a_command_line_that_fills_its_field_with_bad_bytes)
{
	struct pft_session *session = pft_fake_session(4096, 1);
	const Pft__Proto__ProcessDescriptor *process;

	memset(session->cmdline, 0xff, sizeof session->cmdline);
	for (size_t i = 1; i < sizeof session->cmdline; i += 2)
		session->cmdline[i] = '\0';
	session->cmdline_bytes = UINT32_MAX;
	memset(session->process, 'p', sizeof session->process);
	pft_packet_process(&packets, 7, 1234, session);
	process = written()->track_descriptor->process;
	cr_assert_eq(process->n_cmdline, sizeof session->cmdline / 2);
	cr_assert_str_eq(process->cmdline[0], "\xef\xbf\xbd");
	cr_assert_eq(strlen(process->process_name), sizeof session->process);
}

static const Pft__Proto__TraceAttributes__Attribute *attribute(const packet_message *packet, const char *key)
{
	const Pft__Proto__TraceAttributes *all = packet->trace_attributes;

	for (size_t i = 0; i < all->n_attribute; i++)
		if (strcmp(all->attribute[i]->key, key) == 0)
			return all->attribute[i];
	return NULL;
}

Test(packet, tells_the_settings_at_the_start)
{
	const packet_message *packet;

	pft_packet_attributes(&packets, 7, pft_fake_session(4096, 1), NULL, 0);
	packet = written();
	cr_assert_str_eq(attribute(packet, "pftshim.version")->string_value, "0.1.0");
	cr_assert_str_eq(attribute(packet, "pftshim.mode")->string_value, "dev");
	cr_assert_str_eq(attribute(packet, "pftshim.selectors")->string_value, "open*,-close");
	cr_assert_str_eq(attribute(packet, "pftshim.command_line")->string_value,
		"/opt/fake/program --first second argument");
	cr_assert_null(attribute(packet, "pftshim.produced"));
	cr_assert_null(attribute(packet, "pftshim.duration_ns"));
}

Test(packet, tells_the_origin_with_the_settings)
{
	struct pft_session *session = pft_fake_session(4096, 1);
	const packet_message *packet;

	session->parent = (struct pft_relative){
		.real_ns = 1, .pid = session->parent_pid + 1, .process = "make", .execution = "night"};
	session->before = (struct pft_relative){.real_ns = 1, .process = "sh"};
	session->outer_pid = 56;
	pft_packet_attributes(&packets, 7, session, NULL, 0);
	packet = written();
	cr_assert_eq(attribute(packet, "pftshim.parent_pid")->long_value, getppid());
	cr_assert_str_eq(attribute(packet, "pftshim.parent")->string_value, "make");
	cr_assert_str_eq(attribute(packet, "pftshim.parent_execution")->string_value, "night");
	cr_assert_eq(attribute(packet, "pftshim.ancestor_pid")->long_value, getppid() + 1);
	cr_assert_str_eq(attribute(packet, "pftshim.before_exec")->string_value, "sh");
	cr_assert_eq(attribute(packet, "pftshim.outer_pid")->long_value, 56);
}

Test(packet, tells_the_totals_at_the_end)
{
	struct pft_totals totals = {.produced = 10, .written = 5, .filtered = 3, .dropped = 2};
	const packet_message *packet;

	pft_packet_attributes(&packets, 7, pft_fake_session(4096, 1), &totals, 11);
	packet = written();
	cr_assert_eq(attribute(packet, "pftshim.produced")->long_value, 10);
	cr_assert_eq(attribute(packet, "pftshim.written")->long_value, 5);
	cr_assert_eq(attribute(packet, "pftshim.filtered")->long_value, 3);
	cr_assert_eq(attribute(packet, "pftshim.dropped")->long_value, 2);
	cr_assert_eq(attribute(packet, "pftshim.duration_ns")->long_value, 11);
	cr_assert_not_null(attribute(packet, "pftshim.mode"));
}

Test(packet, describes_a_thread_under_its_process)
{
	struct pft_thread_track thread = {
		.uuid = 5, .process_uuid = 4, .pid = 100, .tid = 101, .name = "w\xff \"1\"\n"};
	const Pft__Proto__TrackDescriptor *track;

	pft_packet_thread(&packets, 7, &thread);
	track = written()->track_descriptor;
	cr_assert_eq(track->uuid, 5);
	cr_assert_eq(track->parent_uuid, 4);
	cr_assert_eq(track->thread->pid, 100);
	cr_assert_eq(track->thread->tid, 101);
	cr_assert_str_eq(track->thread->thread_name, "w\xef\xbf\xbd \"1\"\n");
}

Test(packet, leaves_an_empty_thread_name_to_the_viewer)
{
	struct pft_thread_track thread = {.uuid = 5, .process_uuid = 4, .pid = 100, .tid = 101, .name = ""};

	pft_packet_thread(&packets, 7, &thread);
	cr_assert_null(written()->track_descriptor->thread->thread_name);
}

Test(packet, describes_a_child_track)
{
	const Pft__Proto__TrackDescriptor *track;

	pft_packet_child(&packets, 7, 6, 5, "coroutine");
	track = written()->track_descriptor;
	cr_assert_eq(track->uuid, 6);
	cr_assert_eq(track->parent_uuid, 5);
	cr_assert_str_eq(track->name, "coroutine");
}

static uint64_t clock_of(const packet_message *packet, uint32_t id)
{
	const Pft__Proto__ClockSnapshot *snapshot = packet->clock_snapshot;

	for (size_t i = 0; i < snapshot->n_clocks; i++)
		if (snapshot->clocks[i]->clock_id == id)
			return snapshot->clocks[i]->timestamp;
	return UINT64_MAX;
}

Test(packet, starts_a_sequence_with_clocks_and_defaults)
{
	struct pft_state state = {.sequence = 7,
		.first = true,
		.track_uuid = 5,
		.boot_ns = 1000,
		.monotonic_ns = 900,
		.real_ns = 5000};
	const packet_message *packet;

	pft_packet_state(&packets, &state);
	packet = written();
	cr_assert_eq(packet->sequence_flags, 1);
	cr_assert(packet->first_packet_on_sequence);
	cr_assert_not(packet->has_previous_packet_dropped);
	cr_assert_eq(clock_of(packet, 64), 1000);
	cr_assert(packet->clock_snapshot->clocks[0]->is_incremental);
	cr_assert_eq(clock_of(packet, 6), 1000);
	cr_assert_eq(clock_of(packet, 3), 900);
	cr_assert_eq(clock_of(packet, 1), 5000);
	cr_assert_eq(packet->clock_snapshot->primary_trace_clock, 6);
	cr_assert_eq(packet->trace_packet_defaults->timestamp_clock_id, 64);
	cr_assert_eq(packet->trace_packet_defaults->track_event_defaults->track_uuid, 5);
}

Test(packet, counts_what_was_dropped_before_a_state_up_to_the_field_s_limit)
{
	struct pft_state state = {.sequence = 7, .dropped = UINT64_C(1) << 40};
	const packet_message *packet;

	pft_packet_state(&packets, &state);
	packet = written();
	cr_assert_eq(packet->previous_packet_dropped, UINT32_MAX);
	cr_assert_not(packet->has_first_packet_on_sequence);
}

Test(packet, keeps_processes_clocks_apart_by_ids_of_the_sequence_s_own_range)
{
	uint64_t salts[] = {0, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
	const Pft__Proto__Trace *trace;

	for (size_t i = 0; i < 3; i++)
		pft_packet_state(&packets, &(struct pft_state){.sequence = 7, .salt = salts[i]});
	cr_assert_eq(pft_out_flush(&out), 0);
	trace = pft_reader_packets(fd);
	for (size_t i = 0; i < 3; i++) {
		const Pft__Proto__ClockSnapshot *snapshot = trace->packet[i]->clock_snapshot;
		const Pft__Proto__ClockSnapshot *next = trace->packet[(i + 1) % 3]->clock_snapshot;
		int same = 0;

		cr_assert_eq(snapshot->n_clocks, 7);
		for (size_t c = 4; c < 7; c++) {
			cr_assert_gt(snapshot->clocks[c]->clock_id,
				c == 4 ? 64 : snapshot->clocks[c - 1]->clock_id);
			cr_assert_leq(snapshot->clocks[c]->clock_id, 127);
			same += snapshot->clocks[c]->clock_id == next->clocks[c]->clock_id;
		}
		cr_assert_lt(same, 3);
	}
}

Test(packet, defines_only_what_it_is_given)
{
	struct pft_interned interned = {.name_iid = 3, .name = "open"};
	const packet_message *packet;

	pft_packet_interned(&packets, 7, &interned);
	packet = written();
	cr_assert_eq(packet->sequence_flags, 2);
	cr_assert_eq(packet->interned_data->n_event_names, 1);
	cr_assert_eq(packet->interned_data->event_names[0]->iid, 3);
	cr_assert_str_eq(packet->interned_data->event_names[0]->name, "open");
	cr_assert_eq(packet->interned_data->n_event_categories, 0);
}

Test(packet, writes_instants_with_their_texts)
{
	struct pft_event event = {.ns = 55, .sequence = 7, .track_uuid = 6, .absolute = true};
	const packet_message *packet;

	pft_packet_instant(&packets, &event, "thread begin", "pftshim");
	packet = written();
	cr_assert_eq(packet->timestamp, 55);
	cr_assert_eq(packet->timestamp_clock_id, 6);
	cr_assert_eq(packet->track_event->type, 3);
	cr_assert_eq(packet->track_event->track_uuid, 6);
	cr_assert_str_eq(packet->track_event->name, "thread begin");
	cr_assert_str_eq(packet->track_event->categories[0], "pftshim");
	cr_assert_eq(out.waiting + out.lost, 0);
}

Test(packet, writes_instants_without_a_category)
{
	struct pft_event event = {.ns = 55, .sequence = 7};
	const packet_message *packet;

	pft_packet_instant(&packets, &event, "here", NULL);
	packet = written();
	cr_assert_eq(packet->track_event->n_categories, 0);
	cr_assert_not(packet->has_timestamp_clock_id);
	cr_assert_not(packet->track_event->has_track_uuid);
}

Test(packet, marks_an_unwound_end_and_defines_the_mark)
{
	struct pft_event event = {.ns = 55, .sequence = 7};
	const packet_message *packet;

	pft_packet_unwound(&packets, &event, true);
	packet = written();
	cr_assert_eq(packet->track_event->type, 2);
	cr_assert_eq(packet->track_event->n_debug_annotations, 1);
	cr_assert_eq(packet->track_event->debug_annotations[0]->name_iid,
		packet->interned_data->debug_annotation_names[0]->iid);
	cr_assert(packet->track_event->debug_annotations[0]->bool_value);
	cr_assert_str_eq(packet->interned_data->debug_annotation_names[0]->name, "unwound");
}
