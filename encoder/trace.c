// SPDX-License-Identifier: MIT
// The verbs of a trace: see trace.h. Called by replay.c, in the flusher or in `recover`. It owns the trace's
// memory and tracks; packets are built in slices.c and packet.c, JSON in json.c. Ended tracks and sequences
// are used again, so memory follows what lives at one time and the number of different names.
#include "encoder/trace.h"

#include <errno.h>

#include "encoder/attributes.h"
#include "encoder/base/text.h"
#include "encoder/compress.h"
#include "encoder/json.h"
#include "encoder/out.h"
#include "encoder/packet.h"
#include "encoder/sequence.h"
#include "encoder/session.h"
#include "encoder/slices.h"

struct pft_track {
	struct pft_trace *trace;
	struct pft_sequence *sequence;
	struct pft_json_track *json; // NULL without JSON
	uint64_t uuid;
	uint64_t event_uuid; // what its events say: 0 on a thread's track, the sequence's default
	uint32_t tid; // of the thread; on a fiber's track of that which it is a child of
	uint32_t depth; // open calls, those beyond PFT_DEPTH_MAX included
	uint64_t last_ns; // the latest that was shown on it
	uint64_t from_ns; // nothing is shown on it earlier in this file
	bool is_fiber, is_retired;
	char name[PFT_THREAD_NAME];
	struct pft_track *next; // retired
	struct pft_track *older; // of all
};

struct pft_trace {
	struct pft_session *session;
	struct pft_out out;
	struct pft_json *json; // NULL: only packets are written
	struct pft_sequences sequences;
	struct pft_sequence *own; // what belongs to the process and not to a thread
	uint64_t process_uuid;
	uint64_t fibers; // numbers the fibers of this trace, and no other trace of the session
	struct pft_track *all, *retired;
	uint64_t from_ns; // where the file begins
	struct pft_arena memory, scratch;
};

// ---- track uuids ------------------------------------------------------------------------------------

// A bijection of 64 bits that spreads near numbers far apart: the finalizer of splitmix64.
static uint64_t mix(uint64_t value)
{
	value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

enum uuid_kind { UUID_PROCESS, UUID_THREAD, UUID_FIBER, UUID_FLOW };

// Viewers join tracks of all processes and machines by uuid; a process is told by its pid and its start.
static uint64_t uuid_of(uint64_t real_ns, uint32_t pid, enum uuid_kind kind, uint64_t number)
{
	uint64_t process = mix(mix(real_ns) + pid);
	uint64_t uuid = mix(mix(process + kind) + number);

	return uuid ? uuid : 1;
}

static uint64_t make_uuid(const struct pft_session *session, enum uuid_kind kind, uint64_t number)
{
	return uuid_of(session->real_ns, session->pid, kind, number);
}

// ---- open and close ---------------------------------------------------------------------------------

static void write_head(struct pft_trace *trace)
{
	struct pft_packets *packets = &trace->sequences.packets;

	pft_packet_system(packets, trace->own->id);
	pft_packet_process(packets, trace->own->id, trace->process_uuid, trace->session);
	pft_sequence_start(trace->own, trace->sequences.clocks.boot_ns, 0);
	pft_packet_attributes(packets, trace->own->id, trace->session, NULL, 0);
}

static bool set_up_compression(struct pft_trace *trace)
{
	struct pft_compressor *compressor;

	if (trace->session->compress == PFT_COMPRESS_OFF)
		return true;
	compressor = pft_compressor_open(trace->session->compress, PFT_OUT_WRITE_MAX, &trace->memory);
	pft_out_compress(&trace->out, compressor);
	return compressor != NULL;
}

static bool set_up(struct pft_trace *trace, int fd)
{
	// This keeps the scratch arena's first chunk mapped: else every packet would map and unmap one.
	if (!pft_arena_alloc(&trace->scratch, 1))
		return false;
	if (pft_out_open(&trace->out, fd, &trace->memory) < 0 || !set_up_compression(trace))
		return false;
	trace->own = pft_sequence_take(&trace->sequences, trace->process_uuid);
	return trace->own != NULL;
}

static struct pft_trace *allocate(void)
{
	struct pft_arena memory = PFT_ARENA_EMPTY;
	struct pft_trace *trace = pft_arena_alloc(&memory, sizeof *trace);

	if (trace)
		trace->memory = memory;
	return trace;
}

static void free_memory(struct pft_trace *trace)
{
	struct pft_arena memory = trace->memory; // the trace lies in it

	pft_arena_free(&trace->scratch);
	pft_arena_free(&memory);
}

struct pft_trace *pft_trace_open(
	struct pft_session *session, int fd, struct pft_clocks clocks, uint32_t first_sequence)
{
	struct pft_trace *trace = allocate();

	if (!trace)
		return NULL;
	trace->session = session;
	trace->process_uuid = make_uuid(session, UUID_PROCESS, 0);
	trace->fibers = (uint64_t)first_sequence << 32;
	trace->sequences = (struct pft_sequences){
		.packets = {.out = &trace->out, .scratch = &trace->scratch},
		.names = {.session = session, .strings.memory = &trace->memory, .scratch = &trace->scratch},
		.stacks = {.session = session,
			.strings = &trace->sequences.names.strings,
			.memory = &trace->memory,
			.scratch = &trace->scratch},
		.memory = &trace->memory,
		.clocks = clocks,
		.salt = trace->process_uuid,
		.last = first_sequence,
	};
	if (!set_up(trace, fd)) {
		free_memory(trace);
		return NULL;
	}
	write_head(trace);
	return trace;
}

void pft_trace_clocks(struct pft_trace *trace, struct pft_clocks clocks)
{
	trace->sequences.clocks = clocks;
}

static void start_json(struct pft_trace *trace)
{
	struct pft_arena_mark mark = pft_arena_mark(&trace->scratch);
	const char *process = pft_attributes_process(trace->session, &trace->scratch);

	if (process)
		pft_json_process(trace->json, trace->session->pid, process);
	pft_arena_release(&trace->scratch, mark);
}

int pft_trace_json(struct pft_trace *trace, int fd)
{
	if (trace->json) {
		pft_json_reopen(trace->json, fd);
		return 0;
	}
	trace->json = pft_json_open(fd, &trace->memory);
	if (!trace->json)
		return -ENOMEM;
	start_json(trace);
	return 0;
}

int pft_trace_json_resume(struct pft_trace *trace, int fd, struct pft_json_point point)
{
	trace->json = pft_json_resume(fd, point, &trace->memory);
	if (!trace->json)
		return -ENOMEM;
	if (!point.bytes)
		start_json(trace);
	return 0;
}

struct pft_json_point pft_trace_json_point(const struct pft_trace *trace)
{
	return trace->json ? pft_json_point(trace->json) : (struct pft_json_point){0};
}

void pft_trace_hold_nothing(struct pft_trace *trace)
{
	if (trace->json)
		pft_json_let_go(trace->json);
}

int pft_trace_flush(struct pft_trace *trace)
{
	int json_error = trace->json ? pft_json_flush(trace->json) : 0;
	int error = pft_out_flush(&trace->out);

	return error ? error : json_error;
}

// Up to the last reading of the clocks.
static uint64_t duration_ns(const struct pft_trace *trace)
{
	return trace->sequences.clocks.boot_ns - trace->session->boot_ns;
}

static void finish_json(struct pft_trace *trace, const struct pft_totals *totals)
{
	struct pft_arena_mark mark = pft_arena_mark(&trace->scratch);
	struct pft_attribute attributes[PFT_ATTRIBUTES_MAX];
	struct pft_arg other[PFT_ATTRIBUTES_MAX];
	size_t count =
		pft_attributes_list(attributes, trace->session, totals, duration_ns(trace), &trace->scratch);

	for (size_t i = 0; i < count; i++)
		other[i] = (struct pft_arg){
			.name = attributes[i].key,
			.kind = attributes[i].text ? PFT_ARG_TEXT : PFT_ARG_UNSIGNED,
			.text = attributes[i].text,
			.number = attributes[i].number,
		};
	pft_json_finish(trace->json, other, count);
	pft_arena_release(&trace->scratch, mark);
}

void pft_trace_totals(struct pft_trace *trace, struct pft_totals totals)
{
	if (trace->json)
		finish_json(trace, &totals);
	pft_packet_attributes(
		&trace->sequences.packets, trace->own->id, trace->session, &totals, duration_ns(trace));
}

int pft_trace_close(struct pft_trace *trace, struct pft_totals totals)
{
	int result;

	pft_trace_totals(trace, totals);
	result = pft_trace_flush(trace);
	free_memory(trace);
	return result;
}

uint64_t pft_trace_lost(const struct pft_trace *trace)
{
	return trace->json && pft_json_lacks(trace->json) ? UINT64_MAX : trace->out.lost;
}

void pft_trace_reopen(struct pft_trace *trace, int fd)
{
	trace->out.fd = fd;
}

uint64_t pft_trace_bytes(const struct pft_trace *trace)
{
	return trace->out.bytes;
}

uint64_t pft_trace_file_bytes(const struct pft_trace *trace)
{
	uint64_t json_bytes = pft_trace_json_point(trace).bytes;

	return json_bytes > trace->out.bytes ? json_bytes : trace->out.bytes;
}

uint32_t pft_trace_sequences(const struct pft_trace *trace)
{
	return trace->sequences.last;
}

// ---- tracks -----------------------------------------------------------------------------------------

static struct pft_track *new_track(struct pft_trace *trace)
{
	struct pft_track *track = pft_arena_alloc(&trace->memory, sizeof *track);

	if (!track)
		return NULL;
	track->older = trace->all;
	trace->all = track;
	return track;
}

static struct pft_track *take_track(struct pft_trace *trace, uint64_t uuid, uint32_t tid)
{
	struct pft_track *track = trace->retired;
	struct pft_track *older;

	if (track)
		trace->retired = track->next;
	else
		track = new_track(trace);
	if (!track)
		return NULL;
	older = track->older;
	*track = (struct pft_track){
		.trace = trace, .uuid = uuid, .tid = tid, .from_ns = trace->from_ns, .older = older};
	return track;
}

static void keep_name(struct pft_track *track, const char *name)
{
	struct pft_text text = pft_text_in(track->name, sizeof track->name);

	pft_text_add(&text, name);
}

static void put_back(struct pft_track *track)
{
	track->is_retired = true;
	track->next = track->trace->retired;
	track->trace->retired = track;
}

struct pft_track *pft_trace_thread(struct pft_trace *trace, uint32_t tid, const char *name)
{
	uint64_t uuid = make_uuid(trace->session, UUID_THREAD, tid);
	struct pft_track *track = take_track(trace, uuid, tid);

	if (!track)
		return NULL;
	if (trace->json)
		track->json = pft_json_thread(trace->json, trace->session->pid, tid);
	if (!trace->json || track->json)
		track->sequence = pft_sequence_take(&trace->sequences, uuid);
	if (!track->sequence) {
		put_back(track);
		return NULL;
	}
	pft_trace_name(track, name);
	return track;
}

// `description` may be NULL.
static void describe_thread(
	struct pft_trace *trace, uint32_t sequence, uint32_t tid, const char *name, const char *description)
{
	struct pft_thread_track thread = {
		.uuid = make_uuid(trace->session, UUID_THREAD, tid),
		.process_uuid = trace->process_uuid,
		.pid = trace->session->pid,
		.tid = tid,
		.name = name,
		.description = description,
	};

	pft_packet_thread(&trace->sequences.packets, sequence, &thread);
}

static void name_thread(const struct pft_track *track)
{
	describe_thread(track->trace, track->sequence->id, track->tid, track->name, NULL);
	if (track->json)
		pft_json_name(track->json, track->name);
}

void pft_trace_name(struct pft_track *track, const char *name)
{
	keep_name(track, name);
	name_thread(track);
}

void pft_trace_account(struct pft_track *track, struct pft_totals totals, uint64_t elsewhere, bool so_far)
{
	char room[192];
	struct pft_text text = pft_text_in(room, sizeof room);

	pft_text_add_number(&text, totals.produced);
	pft_text_add(&text, so_far ? " events so far = " : " events = ");
	pft_text_add_number(&text, totals.written);
	pft_text_add(&text, " written + ");
	pft_text_add_number(&text, totals.filtered);
	pft_text_add(&text, " filtered + ");
	pft_text_add_number(&text, totals.dropped);
	pft_text_add(&text, " dropped");
	if (elsewhere) {
		pft_text_add(&text, " + ");
		pft_text_add_number(&text, elsewhere);
		pft_text_add(&text, " on other stacks");
	}
	describe_thread(track->trace, track->sequence->id, track->tid, track->name, room);
}

// JSON knows no track below a track: the name tells where it belongs.
static void name_json_fiber(const struct pft_track *track)
{
	char full[128];
	struct pft_text text = pft_text_in(full, sizeof full);

	pft_text_add(&text, track->name);
	pft_text_add(&text, " of ");
	pft_text_add_number(&text, track->tid);
	pft_json_name(track->json, full);
}

static void describe_fiber(const struct pft_track *track)
{
	struct pft_trace *trace = track->trace;

	pft_packet_child(&trace->sequences.packets, track->sequence->id, track->uuid,
		make_uuid(trace->session, UUID_THREAD, track->tid), track->name);
	if (track->json)
		name_json_fiber(track);
}

struct pft_track *pft_trace_fiber(struct pft_track *thread, const char *name)
{
	struct pft_trace *trace = thread->trace;
	uint64_t uuid = make_uuid(trace->session, UUID_FIBER, ++trace->fibers);
	struct pft_track *track = take_track(trace, uuid, thread->tid);

	if (!track)
		return NULL;
	track->sequence = thread->sequence;
	track->event_uuid = uuid;
	track->is_fiber = true;
	if (thread->json) {
		track->json = pft_json_fiber(trace->json, trace->session->pid);
		if (!track->json) {
			put_back(track);
			return NULL;
		}
	}
	track->sequence->tracks++;
	keep_name(track, name);
	describe_fiber(track);
	return track;
}

uint64_t pft_trace_uuid(const struct pft_track *track)
{
	return track->uuid;
}

uint64_t pft_trace_json_tid(const struct pft_track *track)
{
	return track->json ? pft_json_tid(track->json) : 0;
}

struct pft_track *pft_trace_fiber_again(struct pft_trace *trace, uint64_t uuid, uint64_t json_tid)
{
	struct pft_track *track = take_track(trace, uuid, 0);

	if (!track)
		return NULL;
	track->event_uuid = uuid;
	track->is_fiber = true;
	if (trace->json && json_tid)
		track->json = pft_json_thread(trace->json, trace->session->pid, json_tid);
	if (!trace->json || track->json)
		track->sequence = pft_sequence_take(&trace->sequences, uuid);
	if (track->sequence)
		return track;
	put_back(track);
	return NULL;
}

uint32_t pft_trace_depth(const struct pft_track *track)
{
	return track->depth < PFT_DEPTH_MAX ? track->depth : PFT_DEPTH_MAX;
}

void pft_trace_retire(struct pft_track *track)
{
	pft_sequence_release(track->sequence);
	if (track->json)
		pft_json_retire(track->json);
	put_back(track);
}

// ---- the next file ----------------------------------------------------------------------------------

// A fiber may outlive its thread, which has no track any more that would describe itself. One that has says
// more than this, and later.
static void describe_threads_of_fibers(struct pft_trace *trace)
{
	for (const struct pft_track *track = trace->all; track; track = track->older)
		if (track->is_fiber && !track->is_retired)
			describe_thread(trace, track->sequence->id, track->tid, "", NULL);
}

// What was shown in the file before stays in front of what is shown in this one, also when they are joined.
static void begin_again(struct pft_track *track)
{
	uint64_t from_ns = track->trace->from_ns;

	track->from_ns = track->last_ns > from_ns ? track->last_ns : from_ns;
	track->depth = 0;
	if (track->is_fiber)
		describe_fiber(track);
	else
		name_thread(track);
}

void pft_trace_turn(struct pft_trace *trace, int fd, int json_fd, uint64_t from_ns)
{
	trace->from_ns = from_ns;
	pft_out_turn(&trace->out, fd);
	pft_sequences_turn(&trace->sequences);
	write_head(trace);
	if (trace->json) {
		pft_json_turn(trace->json, json_fd);
		start_json(trace);
	}
	describe_threads_of_fibers(trace);
	for (struct pft_track *track = trace->all; track; track = track->older)
		if (!track->is_retired)
			begin_again(track);
}

// ---- events -----------------------------------------------------------------------------------------

// When something is shown that happened at `ns`: not before the file begins.
static inline uint64_t shown_at(const struct pft_track *track, uint64_t ns)
{
	return __builtin_expect(ns < track->from_ns, 0) ? track->from_ns : ns;
}

static inline struct pft_event event_at(struct pft_track *track, uint64_t ns)
{
	if (ns > track->last_ns)
		track->last_ns = ns;
	return pft_sequence_event(track->sequence, ns, track->event_uuid);
}

static inline void put_slice(struct pft_track *track, enum pft_slice_type type, const struct pft_event *event)
{
	struct pft_out *out = &track->trace->out;
	uint8_t *at = pft_out_reserve(out, PFT_SLICE_BYTES_MAX);

	pft_out_commit_event(out, pft_slice_put(at, type, event));
}

static void begin_json(
	struct pft_track *track, uint64_t ns, uint32_t id, const struct pft_arg *args, size_t count)
{
	struct pft_names *names = &track->trace->sequences.names;
	struct pft_shown shown = pft_names_show(names, id);
	const char *name = pft_strings_text(&names->strings, shown.name);

	pft_json_begin(track->json, ns, name ? name : "", pft_strings_text(&names->strings, shown.category),
		args, count);
}

static inline uint32_t callstack(struct pft_sequence *sequence, uint32_t stack)
{
	return __builtin_expect(stack != 0, 0) ? pft_sequence_callstack(sequence, stack) : 0;
}

// The event of a begin. First the event, which starts the sequence's state if need be, then name and stack,
// which rely on it.
static inline struct pft_event begin_event(struct pft_track *track, uint64_t ns, uint32_t id, uint32_t stack)
{
	struct pft_event event = event_at(track, ns);
	struct pft_iids iids = pft_intern_find(&track->sequence->intern, id);

	if (__builtin_expect(!iids.name, 0))
		iids = pft_sequence_define(track->sequence, id);
	event.name_iid = iids.name;
	event.category_iid = iids.category;
	event.callstack_iid = callstack(track->sequence, stack);
	return event;
}

// Whether the annotation's name is to be defined along with its first use.
static bool is_new_annotation(struct pft_sequence *sequence, unsigned annotation)
{
	bool is_new = !(sequence->annotated & annotation);

	sequence->annotated |= annotation;
	return is_new;
}

// A begin that is shown later than it was.
static void begin_late(struct pft_track *track, uint64_t ns, uint32_t id, uint32_t stack, unsigned annotation)
{
	uint64_t shown_ns = shown_at(track, ns);
	struct pft_arg late = {
		.name = pft_annotation_name(annotation), .kind = PFT_ARG_UNSIGNED, .number = shown_ns - ns};
	struct pft_event event;

	if (track->depth++ >= PFT_DEPTH_MAX)
		return;
	event = begin_event(track, shown_ns, id, stack);
	pft_packet_late_begin(&track->trace->sequences.packets, &event, late.number, annotation,
		is_new_annotation(track->sequence, annotation));
	if (track->json)
		begin_json(track, shown_ns, id, &late, 1);
}

void pft_trace_continue(struct pft_track *track, uint64_t ns, uint32_t id, uint32_t stack)
{
	begin_late(track, ns, id, stack, PFT_ANNOTATION_CONTINUED);
}

void pft_trace_resume(struct pft_track *track, uint64_t ns, uint32_t id)
{
	track->depth++;
	if (track->json)
		begin_json(track, ns, id, NULL, 0);
}

void pft_trace_begin(struct pft_track *track, uint64_t ns, uint32_t id, uint32_t stack)
{
	struct pft_event event;

	if (__builtin_expect(ns < track->from_ns, 0)) {
		begin_late(track, ns, id, stack, PFT_ANNOTATION_EARLIER);
		return;
	}
	if (track->depth++ >= PFT_DEPTH_MAX)
		return;
	event = begin_event(track, ns, id, stack);
	put_slice(track, PFT_SLICE_BEGIN, &event);
	if (track->json)
		begin_json(track, ns, id, NULL, 0);
}

// Leaves one open call. Whether it has a slice that ends; a call that the track does not know of has none.
static inline bool leave(struct pft_track *track)
{
	return track->depth && --track->depth < PFT_DEPTH_MAX;
}

void pft_trace_end(struct pft_track *track, uint64_t ns, uint32_t stack)
{
	struct pft_event event;

	if (!leave(track))
		return;
	ns = shown_at(track, ns);
	event = event_at(track, ns);
	event.callstack_iid = callstack(track->sequence, stack);
	put_slice(track, PFT_SLICE_END, &event);
	if (track->json)
		pft_json_end(track->json, ns, NULL, 0);
}

void pft_trace_end_unwound(struct pft_track *track, uint64_t ns)
{
	static const struct pft_arg unwound = {.name = "unwound", .kind = PFT_ARG_BOOL, .number = 1};
	struct pft_event event;

	if (!leave(track))
		return;
	ns = shown_at(track, ns);
	event = event_at(track, ns);
	pft_packet_unwound(&track->trace->sequences.packets, &event,
		is_new_annotation(track->sequence, PFT_ANNOTATION_UNWOUND));
	if (track->json)
		pft_json_end(track->json, ns, &unwound, 1);
}

void pft_trace_instant(struct pft_track *track, uint64_t ns, const char *name, const char *category)
{
	struct pft_event event;

	ns = shown_at(track, ns);
	event = event_at(track, ns);
	pft_packet_instant(&track->trace->sequences.packets, &event, name, category);
	if (track->json)
		pft_json_instant(track->json, ns, name, category, NULL, 0);
}

// The thread, or the process, that made this process: which of its tracks.
static uint64_t describe_origin(struct pft_trace *trace, const struct pft_relative *origin)
{
	struct pft_packets *packets = &trace->sequences.packets;
	struct pft_thread_track thread = {
		.uuid = uuid_of(origin->real_ns, origin->pid, UUID_THREAD, origin->tid),
		.process_uuid = uuid_of(origin->real_ns, origin->pid, UUID_PROCESS, 0),
		.pid = origin->pid,
		.tid = origin->tid,
		.name = "",
	};

	pft_packet_relative(packets, trace->own->id, thread.process_uuid, origin);
	if (!origin->tid)
		return thread.process_uuid;
	pft_packet_thread(packets, trace->own->id, &thread);
	return thread.uuid;
}

// The track of the origin in the JSON; NULL when there is no memory.
static struct pft_json_track *json_origin(struct pft_trace *trace, const struct pft_relative *origin)
{
	struct pft_arena_mark mark = pft_arena_mark(&trace->scratch);
	const char *process = pft_attributes_relative(origin, &trace->scratch);
	struct pft_json_track *track;

	pft_json_process(trace->json, origin->pid, process ? process : "");
	track = origin->tid ? pft_json_thread(trace->json, origin->pid, origin->tid)
			    : pft_json_fiber(trace->json, origin->pid);
	if (track && !origin->tid)
		pft_json_name(track, process ? process : "");
	pft_arena_release(&trace->scratch, mark);
	return track;
}

static void depart_json(struct pft_trace *trace, uint64_t ns, const struct pft_relative *origin,
	const char *how, uint64_t flow)
{
	struct pft_json_track *track = json_origin(trace, origin);

	if (!track)
		return;
	pft_json_instant(track, ns, how, "process", NULL, 0);
	pft_json_flow(track, ns, PFT_JSON_FLOW_START, flow);
}

static void depart(struct pft_trace *trace, uint64_t ns, const struct pft_relative *origin, uint64_t flow)
{
	const struct pft_session *session = trace->session;
	const char *how = session->before.real_ns ? "exec" : session->forked_ns ? "fork" : "spawn";
	uint64_t left_ns = session->forked_ns ? session->forked_ns : session->boot_ns;
	uint64_t uuid = describe_origin(trace, origin);
	struct pft_event event;

	left_ns = left_ns < ns ? left_ns : ns;
	event = pft_sequence_event(trace->own, left_ns, uuid);
	pft_packet_arrow(&trace->sequences.packets, &event, how, "process", (struct pft_arrow){flow, false});
	if (trace->json)
		depart_json(trace, left_ns, origin, how, flow);
}

void pft_trace_arrive(struct pft_track *track, uint64_t ns, const char *name, const char *category)
{
	struct pft_trace *trace = track->trace;
	const struct pft_session *session = trace->session;
	const struct pft_relative *origin = session->before.real_ns ? &session->before : &session->parent;
	uint64_t flow = make_uuid(session, UUID_FLOW, 0);
	struct pft_event event;

	if (!origin->real_ns) {
		pft_trace_instant(track, ns, name, category);
		return;
	}
	depart(trace, ns, origin, flow);
	ns = shown_at(track, ns);
	event = event_at(track, ns);
	pft_packet_arrow(&trace->sequences.packets, &event, name, category, (struct pft_arrow){flow, true});
	if (!track->json)
		return;
	pft_json_instant(track->json, ns, name, category, NULL, 0);
	pft_json_flow(track->json, ns, PFT_JSON_FLOW_END, flow);
}

void pft_trace_gap(struct pft_track *track, uint64_t ns, uint64_t dropped)
{
	ns = shown_at(track, ns);
	while (track->depth)
		pft_trace_end(track, ns, 0);
	pft_sequence_start(track->sequence, ns, dropped);
	// The packet has no time but its sequence's, which a thread before may have brought further than
	// `ns`.
	if (track->json && dropped)
		pft_json_lost(track->json, track->sequence->last_ns, dropped);
}
