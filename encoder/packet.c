// SPDX-License-Identifier: MIT
// Builds the cold packets with protobuf-c: see packet.h. Called through trace.c and sequence.c, flusher
// context. The rule: every text that goes into a message has been through `clean`.
#include "encoder/packet.h"

#include <string.h>
#include <sys/utsname.h>

#include "encoder/attributes.h"
#include "encoder/base/sys_x86_64.h"
#include "encoder/names.h"
#include "encoder/session.h"
#include "encoder/trace.h"
#include "encoder/utf8.h"
#include "encoder/varint.h"
#include "encoder/version.h"
#include "proto/pftrace.pb-c.h"

// Shorter names for the messages.
typedef Pft__Proto__TracePacket packet_message;
typedef Pft__Proto__ClockSnapshot__Clock clock_message;
typedef Pft__Proto__TraceAttributes__Attribute attribute_message;

#define PACKET_TAG 0x0a
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static packet_message packet_on(uint32_t sequence, uint32_t flags)
{
	packet_message packet = PFT__PROTO__TRACE_PACKET__INIT;

	packet.has_trusted_packet_sequence_id = 1;
	packet.trusted_packet_sequence_id = sequence;
	packet.has_sequence_flags = flags != 0;
	packet.sequence_flags = flags;
	return packet;
}

// Packs into the room that the buffer has, and returns where the packet ends.
static uint8_t *pack(struct pft_out *out, const packet_message *packet)
{
	size_t size = pft__proto__trace_packet__get_packed_size(packet);
	uint8_t *at = pft_out_reserve(out, 1 + PFT_VARINT_MAX + size);

	*at++ = PACKET_TAG;
	at = pft_varint_put(at, size);
	return at + pft__proto__trace_packet__pack(packet, at);
}

// Valid UTF-8 of bounded length in scratch memory; NULL for NULL, or when out of memory: the field is then
// left out.
static char *clean(const struct pft_packets *packets, const char *text)
{
	size_t room = text ? 3 * strlen(text) + 1 : 0;
	char *copy;

	if (room > PFT_NAME_BYTES_MAX + 1)
		room = PFT_NAME_BYTES_MAX + 1;
	copy = room ? pft_arena_alloc(packets->scratch, room) : NULL;
	if (copy)
		pft_utf8_clean(copy, room, text);
	return copy;
}

// As clean, for a field of the session that may fill its `room` without an end.
static char *clean_field(struct pft_packets *packets, const char *field, size_t room)
{
	return clean(packets, pft_arena_copy(packets->scratch, field, strnlen(field, room)));
}

// ---- the trace as a whole ---------------------------------------------------------------------------

void pft_packet_system(struct pft_packets *packets, uint32_t sequence)
{
	packet_message packet = packet_on(sequence, 0);
	Pft__Proto__SystemInfo system = PFT__PROTO__SYSTEM_INFO__INIT;
	Pft__Proto__Utsname kernel = PFT__PROTO__UTSNAME__INIT;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);
	struct utsname name;

	if (pft_sys1(SYS_uname, &name) < 0)
		return;
	kernel.sysname = clean(packets, name.sysname);
	kernel.version = clean(packets, name.version);
	kernel.release = clean(packets, name.release);
	kernel.machine = clean(packets, name.machine);
	system.utsname = &kernel;
	system.tracing_service_version = "pftshim " PFT_VERSION;
	system.machine_name = clean(packets, name.nodename);
	packet.system_info = &system;
	pft_out_commit(packets->out, pack(packets->out, &packet));
	pft_arena_release(packets->scratch, mark);
}

// Splits `size` bytes of arguments, each but perhaps the last ended by NUL. Returns how many there are.
static size_t split_arguments(struct pft_packets *packets, const char *cmdline, size_t size, char **arguments)
{
	size_t count = 0;

	for (size_t at = 0; at < size; at += strnlen(cmdline + at, size - at) + 1) {
		arguments[count] = clean_field(packets, cmdline + at, size - at);
		if (!arguments[count])
			break;
		count++;
	}
	return count;
}

static size_t fill_labels(
	struct pft_packets *packets, char *labels[PFT_LABELS_MAX], const struct pft_session *session)
{
	const char *texts[PFT_LABELS_MAX];
	size_t count = pft_attributes_labels(texts, session, packets->scratch);
	size_t filled = 0;

	for (size_t i = 0; i < count; i++) {
		labels[filled] = clean(packets, texts[i]);
		filled += labels[filled] != NULL;
	}
	return filled;
}

static void fill_process(struct pft_packets *packets, Pft__Proto__ProcessDescriptor *process,
	char *labels[PFT_LABELS_MAX], const struct pft_session *session)
{
	size_t size = pft_attributes_cmdline_bytes(session);

	process->has_pid = 1;
	process->pid = (int32_t)session->pid;
	process->process_name = clean(packets, pft_attributes_process(session, packets->scratch));
	process->n_process_labels = fill_labels(packets, labels, session);
	process->process_labels = labels;
	process->cmdline = pft_arena_alloc(packets->scratch, size * sizeof *process->cmdline);
	if (process->cmdline)
		process->n_cmdline = split_arguments(packets, session->cmdline, size, process->cmdline);
}

static void put_process(
	struct pft_packets *packets, uint32_t sequence, uint64_t uuid, Pft__Proto__ProcessDescriptor *process)
{
	packet_message packet = packet_on(sequence, 0);
	Pft__Proto__TrackDescriptor track = PFT__PROTO__TRACK_DESCRIPTOR__INIT;

	track.has_uuid = 1;
	track.uuid = uuid;
	track.process = process;
	packet.track_descriptor = &track;
	pft_out_commit(packets->out, pack(packets->out, &packet));
}

void pft_packet_process(
	struct pft_packets *packets, uint32_t sequence, uint64_t uuid, const struct pft_session *session)
{
	Pft__Proto__ProcessDescriptor process = PFT__PROTO__PROCESS_DESCRIPTOR__INIT;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);
	char *labels[PFT_LABELS_MAX];

	fill_process(packets, &process, labels, session);
	put_process(packets, sequence, uuid, &process);
	pft_arena_release(packets->scratch, mark);
}

void pft_packet_relative(
	struct pft_packets *packets, uint32_t sequence, uint64_t uuid, const struct pft_relative *relative)
{
	Pft__Proto__ProcessDescriptor process = PFT__PROTO__PROCESS_DESCRIPTOR__INIT;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);

	process.has_pid = 1;
	process.pid = (int32_t)relative->pid;
	process.process_name = clean(packets, pft_attributes_relative(relative, packets->scratch));
	put_process(packets, sequence, uuid, &process);
	pft_arena_release(packets->scratch, mark);
}

static void fill_attribute(
	struct pft_packets *packets, attribute_message *message, const struct pft_attribute *attribute)
{
	pft__proto__trace_attributes__attribute__init(message);
	message->key = (char *)attribute->key;
	message->has_long_value = attribute->text == NULL;
	message->long_value = (int64_t)attribute->number;
	message->string_value = clean(packets, attribute->text);
}

void pft_packet_attributes(struct pft_packets *packets, uint32_t sequence, const struct pft_session *session,
	const struct pft_totals *totals, uint64_t duration_ns)
{
	packet_message packet = packet_on(sequence, 0);
	Pft__Proto__TraceAttributes message = PFT__PROTO__TRACE_ATTRIBUTES__INIT;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);
	struct pft_attribute attributes[PFT_ATTRIBUTES_MAX];
	attribute_message messages[PFT_ATTRIBUTES_MAX], *list[PFT_ATTRIBUTES_MAX];

	message.n_attribute = pft_attributes_list(attributes, session, totals, duration_ns, packets->scratch);
	for (size_t i = 0; i < message.n_attribute; i++) {
		fill_attribute(packets, &messages[i], &attributes[i]);
		list[i] = &messages[i];
	}
	message.attribute = list;
	packet.trace_attributes = &message;
	pft_out_commit(packets->out, pack(packets->out, &packet));
	pft_arena_release(packets->scratch, mark);
}

// ---- tracks -----------------------------------------------------------------------------------------

void pft_packet_thread(struct pft_packets *packets, uint32_t sequence, const struct pft_thread_track *track)
{
	packet_message packet = packet_on(sequence, 0);
	Pft__Proto__TrackDescriptor message = PFT__PROTO__TRACK_DESCRIPTOR__INIT;
	Pft__Proto__ThreadDescriptor thread = PFT__PROTO__THREAD_DESCRIPTOR__INIT;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);

	thread.has_pid = thread.has_tid = 1;
	thread.pid = (int32_t)track->pid;
	thread.tid = track->tid;
	thread.thread_name = *track->name ? clean(packets, track->name) : NULL;
	message.has_uuid = message.has_parent_uuid = 1;
	message.uuid = track->uuid;
	message.parent_uuid = track->process_uuid;
	message.thread = &thread;
	message.description = clean(packets, track->description);
	packet.track_descriptor = &message;
	pft_out_commit(packets->out, pack(packets->out, &packet));
	pft_arena_release(packets->scratch, mark);
}

void pft_packet_child(
	struct pft_packets *packets, uint32_t sequence, uint64_t uuid, uint64_t parent_uuid, const char *name)
{
	packet_message packet = packet_on(sequence, 0);
	Pft__Proto__TrackDescriptor message = PFT__PROTO__TRACK_DESCRIPTOR__INIT;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);

	message.has_uuid = message.has_parent_uuid = 1;
	message.uuid = uuid;
	message.parent_uuid = parent_uuid;
	message.name = clean(packets, name);
	packet.track_descriptor = &message;
	pft_out_commit(packets->out, pack(packets->out, &packet));
	pft_arena_release(packets->scratch, mark);
}

// ---- a sequence's state -----------------------------------------------------------------------------

enum { SEQUENCE, MONOTONIC, REALTIME, BOOTTIME, SALT, CLOCKS = SALT + 3 };

static void set_clock(clock_message *clock, uint32_t id, uint64_t ns)
{
	pft__proto__clock_snapshot__clock__init(clock);
	clock->has_clock_id = clock->has_timestamp = 1;
	clock->clock_id = id;
	clock->timestamp = ns;
}

// The viewer's importer keeps one history for each set of clock ids that it sees together, and refuses a
// snapshot in which BOOTTIME or the sequence's clock is earlier than in the history. Sequence ids repeat in
// the files of other processes, so in joined files their histories would be one. Three clocks that nothing
// else uses, with ids out of 65-127 that differ between processes, keep the sets apart.
static void set_salt(clock_message *clocks, uint64_t salt)
{
	for (uint32_t i = 0; i < 3; i++, salt /= 21)
		set_clock(&clocks[i], PFT_CLOCK_SEQUENCE + 1 + 21 * i + (uint32_t)(salt % 21), 0);
}

// The sequence's clock starts at BOOTTIME's value and not at 0: also in its own history it must not go back
// when the state is started again.
static void fill_clocks(clock_message clocks[CLOCKS], const struct pft_state *state)
{
	set_clock(&clocks[SEQUENCE], PFT_CLOCK_SEQUENCE, state->boot_ns);
	clocks[SEQUENCE].has_is_incremental = clocks[SEQUENCE].is_incremental = 1;
	set_clock(
		&clocks[MONOTONIC], PFT__PROTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC, state->monotonic_ns);
	set_clock(&clocks[REALTIME], PFT__PROTO__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME, state->real_ns);
	set_clock(&clocks[BOOTTIME], PFT__PROTO__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME, state->boot_ns);
	set_salt(&clocks[SALT], state->salt);
}

static void set_dropped(packet_message *packet, uint64_t dropped)
{
	packet->has_previous_packet_dropped = dropped != 0;
	packet->previous_packet_dropped = dropped < UINT32_MAX ? (uint32_t)dropped : UINT32_MAX;
}

void pft_packet_state(struct pft_packets *packets, const struct pft_state *state)
{
	packet_message packet = packet_on(state->sequence, PFT_SEQUENCE_CLEARED);
	Pft__Proto__TracePacketDefaults defaults = PFT__PROTO__TRACE_PACKET_DEFAULTS__INIT;
	Pft__Proto__TrackEventDefaults events = PFT__PROTO__TRACK_EVENT_DEFAULTS__INIT;
	Pft__Proto__ClockSnapshot snapshot = PFT__PROTO__CLOCK_SNAPSHOT__INIT;
	clock_message clocks[CLOCKS];
	clock_message *list[CLOCKS];

	fill_clocks(clocks, state);
	for (size_t i = 0; i < COUNT(list); i++)
		list[i] = &clocks[i];
	snapshot.clocks = list;
	snapshot.n_clocks = COUNT(list);
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = PFT__PROTO__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME;
	events.has_track_uuid = 1;
	events.track_uuid = state->track_uuid;
	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = PFT_CLOCK_SEQUENCE;
	defaults.track_event_defaults = &events;
	packet.clock_snapshot = &snapshot;
	packet.trace_packet_defaults = &defaults;
	packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = state->first;
	set_dropped(&packet, state->dropped);
	pft_out_commit(packets->out, pack(packets->out, &packet));
}

void pft_packet_interned(struct pft_packets *packets, uint32_t sequence, const struct pft_interned *interned)
{
	packet_message packet = packet_on(sequence, PFT_SEQUENCE_NEEDS_STATE);
	Pft__Proto__InternedData data = PFT__PROTO__INTERNED_DATA__INIT;
	Pft__Proto__EventName name = PFT__PROTO__EVENT_NAME__INIT, *names = &name;
	Pft__Proto__EventCategory category = PFT__PROTO__EVENT_CATEGORY__INIT, *categories = &category;
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);

	name.has_iid = category.has_iid = 1;
	name.iid = interned->name_iid;
	name.name = clean(packets, interned->name);
	category.iid = interned->category_iid;
	category.name = clean(packets, interned->category);
	data.event_names = &names;
	data.n_event_names = interned->name_iid != 0;
	data.event_categories = &categories;
	data.n_event_categories = interned->category_iid != 0;
	packet.interned_data = &data;
	pft_out_commit(packets->out, pack(packets->out, &packet));
	pft_arena_release(packets->scratch, mark);
}

static Pft__Proto__InternedString bytes_of(uint64_t iid, const void *bytes, size_t size)
{
	Pft__Proto__InternedString string = PFT__PROTO__INTERNED_STRING__INIT;

	string.has_iid = 1;
	string.iid = iid;
	string.has_str = bytes != NULL;
	string.str = (ProtobufCBinaryData){.len = size, .data = (uint8_t *)bytes};
	return string;
}

static Pft__Proto__InternedString text_of(const struct pft_packets *packets, uint64_t iid, const char *text)
{
	const char *shown = clean(packets, text);

	return bytes_of(iid, shown, shown ? strlen(shown) : 0);
}

static void define(const struct pft_packets *packets, uint32_t sequence, Pft__Proto__InternedData *data)
{
	packet_message packet = packet_on(sequence, PFT_SEQUENCE_NEEDS_STATE);

	packet.interned_data = data;
	pft_out_commit(packets->out, pack(packets->out, &packet));
}

void pft_packet_mapping(
	const struct pft_packets *packets, uint32_t sequence, const struct pft_mapping *mapping)
{
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);
	Pft__Proto__InternedData data = PFT__PROTO__INTERNED_DATA__INIT;
	Pft__Proto__Mapping message = PFT__PROTO__MAPPING__INIT, *messages = &message;
	Pft__Proto__InternedString path = text_of(packets, mapping->iid, mapping->path), *paths = &path;
	Pft__Proto__InternedString id = bytes_of(mapping->iid, mapping->build_id, mapping->build_id_bytes);
	Pft__Proto__InternedString *ids = &id;

	message.has_iid = message.has_start = message.has_end = message.has_load_bias = 1;
	message.iid = mapping->iid;
	message.start = mapping->start;
	message.end = mapping->end;
	message.load_bias = mapping->bias;
	message.has_build_id = mapping->build_id_bytes != 0;
	message.build_id = mapping->iid;
	message.path_string_ids = &path.iid;
	message.n_path_string_ids = 1;
	data.mapping_paths = &paths;
	data.n_mapping_paths = 1;
	data.build_ids = &ids;
	data.n_build_ids = mapping->build_id_bytes != 0;
	data.mappings = &messages;
	data.n_mappings = 1;
	define(packets, sequence, &data);
	pft_arena_release(packets->scratch, mark);
}

void pft_packet_frame(
	const struct pft_packets *packets, uint32_t sequence, const struct pft_frame_definition *frame)
{
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);
	Pft__Proto__InternedData data = PFT__PROTO__INTERNED_DATA__INIT;
	Pft__Proto__Frame message = PFT__PROTO__FRAME__INIT, *messages = &message;
	Pft__Proto__InternedString function = text_of(packets, frame->function_iid, frame->function);
	Pft__Proto__InternedString *functions = &function;

	message.has_iid = message.has_mapping_id = message.has_rel_pc = 1;
	message.iid = frame->iid;
	message.mapping_id = frame->mapping_iid;
	message.rel_pc = frame->address;
	message.has_function_name_id = frame->function_iid != 0;
	message.function_name_id = frame->function_iid;
	data.function_names = &functions;
	data.n_function_names = frame->function != NULL;
	data.frames = &messages;
	data.n_frames = 1;
	define(packets, sequence, &data);
	pft_arena_release(packets->scratch, mark);
}

void pft_packet_callstack(
	const struct pft_packets *packets, uint32_t sequence, uint64_t iid, uint64_t *frames, size_t count)
{
	Pft__Proto__InternedData data = PFT__PROTO__INTERNED_DATA__INIT;
	Pft__Proto__Callstack message = PFT__PROTO__CALLSTACK__INIT, *messages = &message;

	message.has_iid = 1;
	message.iid = iid;
	message.frame_ids = frames;
	message.n_frame_ids = count;
	data.callstacks = &messages;
	data.n_callstacks = 1;
	define(packets, sequence, &data);
}

// ---- events -----------------------------------------------------------------------------------------

static packet_message packet_of(const struct pft_event *event)
{
	packet_message packet = packet_on(event->sequence, PFT_SEQUENCE_NEEDS_STATE);

	packet.has_timestamp = 1;
	packet.timestamp = event->ns;
	packet.has_timestamp_clock_id = event->absolute;
	packet.timestamp_clock_id = PFT__PROTO__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME;
	return packet;
}

static Pft__Proto__TrackEvent track_event_of(const struct pft_event *event, Pft__Proto__TrackEvent__Type type)
{
	Pft__Proto__TrackEvent message = PFT__PROTO__TRACK_EVENT__INIT;

	message.has_type = 1;
	message.type = type;
	message.has_track_uuid = event->track_uuid != 0;
	message.track_uuid = event->track_uuid;
	return message;
}

static void put_instant(struct pft_packets *packets, const struct pft_event *event, const char *name,
	const char *category, const struct pft_arrow *arrow)
{
	packet_message packet = packet_of(event);
	Pft__Proto__TrackEvent message = track_event_of(event, PFT__PROTO__TRACK_EVENT__TYPE__TYPE_INSTANT);
	struct pft_arena_mark mark = pft_arena_mark(packets->scratch);
	char *categories = clean(packets, category);
	uint64_t flow = arrow ? arrow->flow : 0;

	message.name = clean(packets, name);
	message.categories = &categories;
	message.n_categories = categories != NULL;
	message.flow_ids = message.terminating_flow_ids = &flow;
	message.n_flow_ids = arrow && !arrow->ends;
	message.n_terminating_flow_ids = arrow && arrow->ends;
	packet.track_event = &message;
	pft_out_commit(packets->out, pack(packets->out, &packet));
	pft_arena_release(packets->scratch, mark);
}

void pft_packet_instant(
	struct pft_packets *packets, const struct pft_event *event, const char *name, const char *category)
{
	put_instant(packets, event, name, category, NULL);
}

void pft_packet_arrow(struct pft_packets *packets, const struct pft_event *event, const char *name,
	const char *category, struct pft_arrow arrow)
{
	put_instant(packets, event, name, category, &arrow);
}

const char *pft_annotation_name(unsigned annotation)
{
	return annotation == PFT_ANNOTATION_UNWOUND     ? "unwound"
	       : annotation == PFT_ANNOTATION_CONTINUED ? "continued_ns"
							: "began_earlier_ns";
}

// An event with one annotation, whose value is filled in. Its bit is its iid.
static void put_annotated(struct pft_packets *packets, const struct pft_event *event,
	Pft__Proto__TrackEvent *message, Pft__Proto__DebugAnnotation *value, unsigned annotation, bool define)
{
	packet_message packet = packet_of(event);
	Pft__Proto__DebugAnnotationName definition = PFT__PROTO__DEBUG_ANNOTATION_NAME__INIT;
	Pft__Proto__DebugAnnotationName *definitions = &definition;
	Pft__Proto__InternedData data = PFT__PROTO__INTERNED_DATA__INIT;

	value->has_name_iid = 1;
	value->name_iid = annotation;
	message->debug_annotations = &value;
	message->n_debug_annotations = 1;
	definition.has_iid = 1;
	definition.iid = annotation;
	definition.name = (char *)pft_annotation_name(annotation);
	data.debug_annotation_names = &definitions;
	data.n_debug_annotation_names = 1;
	packet.track_event = message;
	packet.interned_data = define ? &data : NULL;
	pft_out_commit_event(packets->out, pack(packets->out, &packet));
}

void pft_packet_unwound(struct pft_packets *packets, const struct pft_event *event, bool define)
{
	Pft__Proto__TrackEvent message = track_event_of(event, PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	Pft__Proto__DebugAnnotation unwound = PFT__PROTO__DEBUG_ANNOTATION__INIT;

	unwound.has_bool_value = unwound.bool_value = 1;
	put_annotated(packets, event, &message, &unwound, PFT_ANNOTATION_UNWOUND, define);
}

void pft_packet_late_begin(struct pft_packets *packets, const struct pft_event *event, uint64_t late_ns,
	unsigned annotation, bool define)
{
	Pft__Proto__TrackEvent message =
		track_event_of(event, PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	Pft__Proto__DebugAnnotation late = PFT__PROTO__DEBUG_ANNOTATION__INIT;
	uint64_t category = event->category_iid;

	message.has_name_iid = event->name_iid != 0;
	message.name_iid = event->name_iid;
	message.category_iids = &category;
	message.n_category_iids = category != 0;
	message.has_callstack_iid = event->callstack_iid != 0;
	message.callstack_iid = event->callstack_iid;
	late.has_uint_value = 1;
	late.uint_value = late_ns;
	put_annotated(packets, event, &message, &late, annotation, define);
}
