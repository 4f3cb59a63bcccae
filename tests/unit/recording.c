// SPDX-License-Identifier: MIT
// A recording as the library makes one: see recording.h. Called by unit tests.
#define _GNU_SOURCE
#include "tests/unit/recording.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/flusher.h"
#include "shim/hot/clock.h"
#include "shim/hot/frame.h"
#include "shim/hot/pages.h"
#include "shim/hot/self.h"
#include "shim/process.h"
#include "shim/store.h"
#include "tests/unit/fake_session.h"
#include "tests/unit/reader.h"
#include "tests/unit/unannounced.h"

#define STACK_BYTES (1u << 20)

static char base[] = "/tmp/pft-recording-XXXXXX";

struct pft_place recording_place = {.wanted = PFT_FILE_BIT(PFT_FILE_TRACE)};
uint32_t recording_segment = 1;
struct pft_settings recording_settings = {
	.mode = PFT_MODE_USER,
	.overflow = PFT_OVERFLOW_WAIT,
	.clock = PFT_CLOCK_TSC,
	.directory = base,
	.buffer_bytes = 16 << 10,
};

// ---- its life ---------------------------------------------------------------------------------------

static void nothing_to_end(void)
{
}

void recording_directory(void)
{
	static bool made;

	if (!made)
		cr_assert_not_null(mkdtemp(base));
	made = true;
}

void recording_make(void)
{
	recording_directory();
	pft_clock_start(recording_settings.clock, NULL);
	cr_assert_eq(
		pft_place_make(&recording_place, base, recording_settings.execution, NULL, "program"), 0);
	pft_session = pft_store_make(&recording_settings, &recording_place, "program");
	cr_assert_not_null(pft_session);
	cr_assert(pft_pages_reserve(pft_session_hook(pft_session, 0), 4096));
	cr_assert(pft_pages_reserve(pft_session_string(pft_session, 0), 4096));
}

static void sit(void)
{
	struct pft_self *self = pft_self_take(STACK_BYTES);

	cr_assert_not_null(self);
	pft_self_begin(self, (uintptr_t)__builtin_frame_address(0) + STACK_BYTES / 2);
}

void recording_start(void)
{
	if (!pft_session)
		recording_make();
	pft_flusher_prepare(&recording_place, false);
	pft_process_end = nothing_to_end;
	cr_assert(pft_recording_start());
	sit();
}

struct thread {
	void *(*start)(void *);
	void *argument;
};

static void *run_thread(void *of)
{
	struct thread thread = *(struct thread *)of;
	void *answer;

	free(of);
	sit();
	answer = thread.start(thread.argument);
	pft_self_end();
	return answer;
}

pthread_t recording_thread(void *(*start)(void *), void *argument)
{
	struct thread *thread = malloc(sizeof(*thread));

	cr_assert_not_null(thread);
	*thread = (struct thread){start, argument};
	return unannounced_create(run_thread, thread);
}

struct pft_said recording_report;

int recording_finish(struct pft_totals *totals)
{
	cr_assert(pft_recording_stop());
	return pft_flusher_finish(totals, &recording_report);
}

static int entry_remove(const char *path, const struct stat *found, int kind, struct FTW *level)
{
	(void)found;
	(void)kind;
	(void)level;
	return remove(path);
}

void recording_clean(void)
{
	pft_recording_stop();
	pft_store_remove(&recording_place);
	nftw(base, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
}

// ---- events -----------------------------------------------------------------------------------------

uint32_t recording_hook(const char *symbol)
{
	return pft_fake_hook(pft_session, NULL, symbol);
}

void recording_call(uint32_t hook)
{
	// Where a call has its return address: 8 bytes off what the stack is aligned to.
	uintptr_t words[2] __attribute__((aligned(16))) = {0};
	struct pft_frame *frame = pft_enter_slow(hook, (uintptr_t)&words[1], 0, 0);

	if (frame)
		pft_leave_slow(frame, (uintptr_t)&words[1], 0);
}

void recording_calls(uint32_t hook, unsigned count)
{
	while (count--)
		recording_call(hook);
}

// ---- the file ---------------------------------------------------------------------------------------

#define NAMES_MAX 1024

static struct {
	uint32_t sequence;
	uint64_t iid;
	const char *name;
} names[NAMES_MAX];

static size_t name_count;

static void take_names(const Pft__Proto__TracePacket *packet)
{
	const Pft__Proto__InternedData *data = packet->interned_data;

	for (size_t i = 0; data && i < data->n_event_names; i++) {
		cr_assert_lt(name_count, NAMES_MAX);
		names[name_count].sequence = packet->trusted_packet_sequence_id;
		names[name_count].iid = data->event_names[i]->iid;
		names[name_count++].name = data->event_names[i]->name;
	}
}

// The last definition counts: a sequence may be taken by one thread after the other.
static const char *name_of(const Pft__Proto__TracePacket *packet)
{
	const Pft__Proto__TrackEvent *event = packet->track_event;
	size_t i = name_count;

	while (i--)
		if (names[i].sequence == packet->trusted_packet_sequence_id &&
			names[i].iid == event->name_iid)
			return names[i].name;
	return event->name ? event->name : "";
}

static const Pft__Proto__Trace *read_file(void)
{
	const Pft__Proto__Trace *trace;
	char later[PFT_PATH_MAX];
	const char *path = recording_place.paths[PFT_FILE_TRACE];
	int fd;

	if (recording_segment > 1) {
		cr_assert_eq(pft_place_path(&recording_place, PFT_FILE_TRACE, recording_segment, later), 0);
		path = later;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	trace = pft_reader_packets(fd);
	close(fd);
	name_count = 0;
	return trace;
}

static int type_of(const Pft__Proto__TracePacket *packet)
{
	return packet->track_event ? (int)packet->track_event->type : 0;
}

unsigned recording_slices(const char *name)
{
	const Pft__Proto__Trace *trace = read_file();
	unsigned count = 0;

	for (size_t i = 0; i < trace->n_packet; i++) {
		const Pft__Proto__TracePacket *packet = trace->packet[i];

		take_names(packet);
		if (type_of(packet) == PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN)
			count += strcmp(name_of(packet), name) == 0;
	}
	return count;
}

unsigned recording_ends(void)
{
	const Pft__Proto__Trace *trace = read_file();
	unsigned count = 0;

	for (size_t i = 0; i < trace->n_packet; i++)
		count += type_of(trace->packet[i]) == PFT__PROTO__TRACK_EVENT__TYPE__TYPE_SLICE_END;
	return count;
}

unsigned recording_threads(const char *name)
{
	const Pft__Proto__Trace *trace = read_file();
	unsigned count = 0;

	for (size_t i = 0; i < trace->n_packet; i++) {
		const Pft__Proto__TrackDescriptor *track = trace->packet[i]->track_descriptor;

		count += track && !track->description && track->thread && track->thread->thread_name &&
			 strcmp(track->thread->thread_name, name) == 0;
	}
	return count;
}

int recording_await(const char *name, unsigned slices)
{
	for (unsigned turn = 0; turn < 1000; turn++) {
		if (recording_slices(name) >= slices)
			return 1;
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	}
	return 0;
}
