// SPDX-License-Identifier: MIT
// The session: one mapping of a file that outlives a kill. The recording process writes it, the flusher
// encodes from it, and `recover` encodes what a dead process left in it. Plain layout, no pointers: every
// place is an offset from the start of the mapping. Shared by shim/, hot/ and encoder/; any context.
//
//   header | hooks | strings | mappings | stacks | threads | commit 0 | commit 1 | ring 0 | ring 1 | ...
//
// What is durable after a kill: the kernel keeps the pages of a shared file mapping. Stores reach them in
// program order (x86-64 total store order), which is what the two rules below stand on.
//
//   ring:    a record's `at` is stored last and equals the position that it was written for, so a reader
//            without the writer's registers knows how far the ring holds this lap's records.
//   commit:  commit[generation & 1] is whole. The other one is filled while it stands, then `generation` is
//            stored once, after the bytes that it speaks of are in the trace file.
#ifndef PFT_SESSION_H
#define PFT_SESSION_H

#include <stdint.h>

#define PFT_SESSION_MAGIC UINT64_C(0x316e6f6973746670) // "pftsion1", little endian
#define PFT_SESSION_VERSION 10

// Hooks, as many as there are thunks in the trampoline; id 0 is no hook.
#define PFT_HOOKS_MAX 65536
// Names of a few events that are the library's own; real hooks begin after them.
#define PFT_HOOK_NONE 0
#define PFT_HOOK_WAIT 1 // the thread waits for the flusher: its ring is full
#define PFT_HOOK_PROBE 2 // a call of nothing, which measures what recording costs
#define PFT_HOOK_FIRST 16

// Viewers keep 512 levels and lose count beyond; see trace.h.
#define PFT_DEPTH_MAX 500

// ---- rings ------------------------------------------------------------------------------------------

// One slot of a ring. Positions count bytes, never reset, and wrap at 2^32; the place of a position in
// the ring is `position & (ring_bytes - 1)`.
struct pft_record {
	uint64_t ticks; // of the session's clock
	uint32_t what; // hook id | kind
	uint32_t at; // the position; stored last
};

_Static_assert(sizeof(struct pft_record) == 16, "a record is one ring slot");

#define PFT_WHAT_ID 0x0000ffffu
#define PFT_WHAT_KIND 0x7f000000u

#define PFT_BEGIN 0x00000000u
#define PFT_END 0x01000000u
#define PFT_UNWOUND 0x02000000u // an end that was noticed late: longjmp, throw, an abandoned stack
#define PFT_GAP 0x03000000u // events were dropped here; one more slot: struct pft_gap

// The three slots before this marker belong to a writer that a signal handler interrupted: whatever stands in
// them, and whenever it was written, is no record. The handler left them out and went on behind.
#define PFT_HOLE 0x04000000u
#define PFT_HOLE_SLOTS 3

// The window was closed before this, and calls that were open may have ended unseen; one more slot: struct
// pft_gap, that dropped nothing.
#define PFT_PAUSE 0x05000000u

// One more slot follows, struct pft_detail: the event lies on a stack that is not the thread's own, or it is
// known where it came from, or both.
#define PFT_FOREIGN 0x80000000u
#define PFT_STACK 0x00800000u

// The turn counts the begins at a slot on a foreign stack, as far as a byte goes. Slot and turn name a call,
// whoever records its end. Programs have no addresses up there: with five levels of pages they have 56 bits.
#define PFT_TURN_SHIFT 56
#define PFT_SLOT_MASK ((UINT64_C(1) << PFT_TURN_SHIFT) - 1)

// The second slot of a record says so: who reads on behind slots that were overwritten would take it for a
// first.
#define PFT_SECOND 1u // in `at`, whose positions are multiples of the slots' size

struct pft_gap {
	uint64_t dropped; // begins and ends since the last gap of this thread
	uint32_t depth; // open calls whose begin was recorded and whose end may still come
	uint32_t at;
};

struct pft_detail {
	uint64_t slot; // address of the call's return-address slot, and above it the turn
	uint32_t stack; // of the call: its caller's frame among the stacks; 0: not known
	uint32_t at;
};

_Static_assert(sizeof(struct pft_gap) == 16 && sizeof(struct pft_detail) == 16, "one ring slot each");

// ---- tables -----------------------------------------------------------------------------------------

struct pft_session_hook {
	uint32_t symbol; // offsets into the strings; 0: none
	uint32_t object; // file name of the object that holds the function
};

// An object as it was mapped. Entries stay when it is unmapped: stacks that were taken meanwhile name them.
#define PFT_MAPPINGS_MAX 4096
#define PFT_BUILD_ID 32 // longer ones are cut

struct pft_session_mapping {
	uint64_t start, end;
	uint64_t bias; // what the file's addresses are moved by
	uint32_t path; // offset into the strings
	uint32_t build_id_bytes;
	uint8_t build_id[PFT_BUILD_ID];
};

// A frame of a stack, named by its number; 0 is none. Stacks that have their outer part in common share it:
// all of them together are a tree, and a stack is the way from a frame to the root. Entries are found by
// chains that begin in `stack_heads` and only grow. A frame's number is greater than its caller's.
struct pft_session_frame {
	uint64_t code; // the address of an instruction of the call | mapping << PFT_MAPPING_SHIFT
	uint32_t caller; // the frame that called
	uint32_t next; // in the chain
};

#define PFT_MAPPING_SHIFT 48 // user addresses are shorter (psABI 3.3.2)
#define PFT_STACK_HEADS 65536
#define PFT_FRAMES_MAX (1u << 20)

_Static_assert(sizeof(struct pft_session_frame) == 16, "a frame is a ring slot's size");

enum pft_thread_state {
	PFT_THREAD_FREE, // entry and ring may be taken
	PFT_THREAD_TAKEN, // a thread is filling the entry in
	PFT_THREAD_LIVE, // the thread records
	PFT_THREAD_ENDED, // the thread records no more; the flusher drains the rest and frees it
};

#define PFT_THREAD_NAME 64

// Thread entry i owns ring i.
struct pft_session_thread {
	uint32_t state; // enum pft_thread_state; taken by compare-and-swap, freed by the flusher
	uint32_t tid;
	uint64_t serial; // counts the threads of this process from 1: tells two users of an entry apart
	uint64_t begin_ticks;
	uint64_t end_ticks; // 0 while it lives
	uint32_t begin_at; // ring position at which this thread began
	uint32_t name_turn; // odd while the name is being written
	uint64_t dropped; // events (begins and ends) that this thread could not record
	uint64_t other_slots; // slots that were committed and are no event of their own
	char name[PFT_THREAD_NAME];
};

// ---- commits ----------------------------------------------------------------------------------------

// Converts ticks to nanoseconds of CLOCK_BOOTTIME: see timeline.h.
struct pft_timeline {
	uint64_t ticks; // where this line starts
	uint64_t ns;
	uint64_t rate; // nanoseconds a tick, 32.32 fixed point
};

// A slice that is open at the commit.
struct pft_open {
	uint64_t ns;
	uint32_t stack; // where it was called; 0: not known
	uint16_t id;
	uint16_t flags;
};

_Static_assert(PFT_HOOKS_MAX <= UINT16_MAX + 1, "an open call holds any hook's id");

#define PFT_OPEN_CUT 32u // its slice ended with the window: of hook PFT_HOOK_NONE, and its end is filtered
#define PFT_OPEN_WRITTEN 1u // its begin is in the trace file (a filter may still hold it back)

struct pft_commit_thread {
	uint64_t serial; // of the thread that the rest speaks of
	uint64_t produced, written, filtered, dropped; // events so far
	uint64_t other_slots, lost_slots; // of those read: that are no event, that were not whole
	uint64_t told; // of the dropped events: what the thread itself has said
	uint64_t untold; // of the dropped events: what the trace has no gap for yet
	uint64_t last_ns;
	uint32_t tail; // ring position up to which everything is in the trace file
	uint32_t depth; // calls that are open; those beyond PFT_DEPTH_MAX are counted only
	struct pft_open open[PFT_DEPTH_MAX];
};

// A call that is open at the commit on a stack that is not the thread's own. Calls are listed stack by stack,
// as the encoder guesses them (strands.h), from the innermost out. Stacks for which there is no room are not
// listed: the ends of their calls are lost with the process, and the begins that are not written yet.
struct pft_open_foreign {
	uint64_t slot; // and turn, as of struct pft_detail
	uint64_t ns;
	uint64_t track_uuid;
	uint64_t doubt_ns; // PFT_OPEN_DOUBTFUL: when it ended unless its end comes
	uint64_t json_tid; // of the track in the JSON; 0: none
	uint32_t stack;
	uint16_t id;
	uint16_t flags;
};

#define PFT_FOREIGN_MAX 4096

// Besides PFT_OPEN_WRITTEN, which a call lacks that will be written when it ends:
#define PFT_OPEN_DEEP 2u // is counted only
#define PFT_OPEN_CLOSED 4u // its slice has ended, its end closes nothing
#define PFT_OPEN_DOUBTFUL 8u // it may have been left; the track is its caller's
#define PFT_OPEN_OUTERMOST 16u // the last one of its stack

// A long trace is written in several files, its segments.
struct pft_segments {
	uint32_t number; // of the one that is written, from 1; before the first commit it may say 0
	uint32_t removed; // how many were, the oldest first
	uint64_t written_before; // events in earlier ones
	uint64_t events_removed; // of them
};

struct pft_commit {
	uint64_t trace_bytes; // length of the trace file that is good
	struct pft_segments segments; // which file that is
	uint64_t json_bytes, json_fibers; // of the trace as JSON: how far that is good
	uint64_t produced, written, filtered, dropped; // of threads that have ended and been freed
	struct pft_timeline timeline;
	uint64_t boot_ns, monotonic_ns, real_ns; // the last reading of all clocks
	uint32_t sequences; // packet sequences used so far
	uint32_t foreign; // calls listed that are open on stacks that are no thread's own
	// struct pft_commit_thread[threads_max] follows, and struct pft_open_foreign[PFT_FOREIGN_MAX]
};

// ---- header -----------------------------------------------------------------------------------------

enum pft_mode { PFT_MODE_OFF, PFT_MODE_USER, PFT_MODE_DEV };

// What a thread does when its ring is full.
enum pft_overflow { PFT_OVERFLOW_WAIT, PFT_OVERFLOW_DROP, PFT_OVERFLOW_OVERWRITE };

// How packets are written.
enum pft_compress { PFT_COMPRESS_OFF, PFT_COMPRESS_DEFLATE, PFT_COMPRESS_ZSTD };

enum pft_clock {
	PFT_CLOCK_TSC, // ticks of the time-stamp counter
	PFT_CLOCK_MONOTONIC, // nanoseconds of CLOCK_MONOTONIC
};

// How the flusher sleeps. Who wants it makes that none.
enum pft_asleep {
	PFT_ASLEEP_NONE,
	PFT_ASLEEP_NAP, // it looks around by itself soon
	PFT_ASLEEP_LONG, // it waits to be woken
};

// What somebody else asks of the process (pft ctl). The asker holds flock(2) on the session's file, stores
// the command, raises `request` and wakes the flusher; the flusher carries it out, fills in the answer and
// makes `answered` equal to `request`.
enum pft_command {
	PFT_COMMAND_STATUS,
	PFT_COMMAND_FLUSH,
	PFT_COMMAND_START,
	PFT_COMMAND_STOP,
	PFT_COMMAND_DUMP,
	PFT_COMMAND_COUNT,
};

struct pft_control {
	uint32_t request;
	uint32_t command; // enum pft_command
	uint32_t answered; // a futex word, shared between processes
	int32_t result; // 0 or -errno
	uint64_t produced, written, filtered, dropped; // events so far
	uint64_t trace_bytes;
};

// A process that another one comes from, as its own trace calls it.
struct pft_relative {
	uint64_t real_ns; // as in its session: with the pid it tells which process. 0: nothing is known
	uint32_t pid;
	uint32_t tid; // of the thread that made this process; 0: not known
	uint32_t outer_pid; // as in its session
	uint32_t reserved;
	char process[64];
	char execution[128];
};

#define PFT_SESSION_PATH 1024

// A segment's files, the trace and its JSON, to be known again. They are named before they are made: then
// their inodes are 0, as is that of a file which there is not.
struct pft_made {
	uint32_t segment; // 0: none
	uint32_t reserved;
	struct {
		uint64_t device, inode;
	} files[2];
};

// More segments than this cannot be kept when the oldest are to be removed.
#define PFT_SEGMENTS_KEPT_MAX 1000

// Sessions in memory are called {directory}/{name}{pid}.{number}. Numbers tell those of one pid apart: of
// other pid namespaces, or of a process that was killed.
#define PFT_SESSION_MEMORY "/dev/shm"
#define PFT_SESSION_NAME "pftshim."
#define PFT_SESSION_NUMBERS 100

#define PFT_SESSION_PACKETS 1u
#define PFT_SESSION_JSON 2u

struct pft_session {
	uint64_t magic;
	uint32_t version;
	uint32_t clock; // enum pft_clock
	uint64_t bytes; // of the whole mapping
	uint32_t pid;
	uint32_t parent_pid;
	uint32_t mode; // enum pft_mode
	uint32_t overflow; // enum pft_overflow
	uint64_t ring_bytes; // a power of two
	uint64_t min_duration_ns;
	uint64_t max_depth; // 0: none
	uint32_t threads_max;
	uint32_t hooks; // ids below this are in use; stored after the entry is whole
	uint32_t strings_used; // bytes; offset 0 holds an empty string
	uint32_t strings_bytes; // room
	uint32_t mappings; // in use, from 1; stored after the entry is whole
	uint32_t frames_max; // 0: no stacks are taken
	uint32_t frames; // numbers given out, 0 included; some may have come to nothing
	uint32_t stacks_cut; // that could not be kept whole for want of room here
	uint32_t foreign_max; // room for such calls in the commit records: PFT_FOREIGN_MAX, or 0 before the
			      // first
	uint32_t window; // how often it was closed, twice; odd while it is closed
	uint64_t hooks_at, strings_at, mappings_at, stack_heads_at, frames_at;
	uint64_t threads_at, commit_at[2], commit_bytes, rings_at;
	uint64_t unseated; // events of threads that found no place here
	uint32_t probe_inside_ns, probe_outside_ns; // what recording a call costs; 0: not known
	uint64_t peak_rss_bytes, minor_faults, major_faults; // of the process, as of the flusher's last look
	uint64_t serials; // thread serial numbers given out
	uint64_t finished; // nothing is missing in the trace: the file of this session may go
	uint64_t generation; // commit[generation & 1] is the whole one
	uint64_t boot_ns, monotonic_ns, real_ns, start_ticks; // one reading of all clocks, at start
	uint32_t flusher_asleep; // enum pft_asleep; a futex shared between processes
	uint32_t flusher_runs; // 1: it will look at `control`
	uint64_t closed_ticks; // when that was last
	uint64_t segment_bytes; // at which another segment begins; 0: there is one
	uint32_t segments_kept; // the oldest are removed when there are more; 0: none is
	uint32_t compress; // enum pft_compress
	struct pft_segments segments; // as of now
	struct pft_made made; // the trace's latest segment, which the commits need not know yet
	struct pft_made removing; // the latest that counts as removed; its files may be there still
	struct pft_control control;
	struct pft_relative parent; // the nearest ancestor that records
	struct pft_relative before; // what this process was before exec
	uint64_t forked_ns; // CLOCK_BOOTTIME of the fork; 0: it was not seen
	uint32_t outer_pid; // pid in an outer namespace; 0: not known
	uint32_t cmdline_bytes;
	uint32_t selectors_bytes;
	uint32_t files; // PFT_SESSION_PACKETS, PFT_SESSION_JSON: what the process writes
	char process[256]; // what the trace calls it
	char trace_path[PFT_SESSION_PATH]; // of the packets, or where there are none of the JSON
	char cmdline[4096]; // as /proc/self/cmdline: each argument ends in NUL
	char selectors[1024]; // PFT_FUNCS as given, cut to fit
};

_Static_assert(sizeof(struct pft_session) <= 8192, "the header is two pages");

static inline struct pft_session_hook *pft_session_hook(struct pft_session *s, uint32_t id)
{
	return (struct pft_session_hook *)((char *)s + s->hooks_at) + id;
}

static inline char *pft_session_string(struct pft_session *s, uint32_t offset)
{
	return (char *)s + s->strings_at + offset;
}

static inline struct pft_session_mapping *pft_session_mapping(struct pft_session *s, uint32_t index)
{
	return (struct pft_session_mapping *)((char *)s + s->mappings_at) + index;
}

static inline uint32_t *pft_session_stack_head(struct pft_session *s, uint32_t chain)
{
	return (uint32_t *)((char *)s + s->stack_heads_at) + chain;
}

static inline struct pft_session_frame *pft_session_frame(struct pft_session *s, uint32_t number)
{
	return (struct pft_session_frame *)((char *)s + s->frames_at) + number;
}

static inline struct pft_session_thread *pft_session_thread(struct pft_session *s, uint32_t index)
{
	return (struct pft_session_thread *)((char *)s + s->threads_at) + index;
}

// The name of a thread has two writers, the thread and the flusher. Who finds it being written leaves it: the
// other is just copying the same name. Readers copy it between two reads of one even `name_turn`.
static inline int pft_session_name_begin(struct pft_session_thread *entry)
{
	uint32_t turn = __atomic_load_n(&entry->name_turn, __ATOMIC_RELAXED);

	return !(turn & 1) && __atomic_compare_exchange_n(&entry->name_turn, &turn, turn + 1, 0,
				      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline void pft_session_name_end(struct pft_session_thread *entry)
{
	__atomic_fetch_add(&entry->name_turn, 1, __ATOMIC_RELEASE);
}

// Outside of the window calls pass and nothing is recorded (shim/hot/window.h).
static inline uint32_t pft_session_window(const struct pft_session *s)
{
	return __atomic_load_n(&s->window, __ATOMIC_SEQ_CST);
}

static inline int pft_window_is_closed(uint32_t window)
{
	return window & 1;
}

static inline struct pft_commit *pft_session_commit(struct pft_session *s, uint64_t generation)
{
	return (struct pft_commit *)((char *)s + s->commit_at[generation & 1]);
}

static inline struct pft_commit_thread *pft_commit_thread(struct pft_commit *commit, uint32_t index)
{
	return (struct pft_commit_thread *)(commit + 1) + index;
}

static inline struct pft_open_foreign *pft_commit_foreign(struct pft_session *s, struct pft_commit *commit)
{
	return (struct pft_open_foreign *)pft_commit_thread(commit, s->threads_max);
}

static inline struct pft_record *pft_session_record(struct pft_session *s, uint32_t index, uint32_t position)
{
	return (struct pft_record *)((char *)s + s->rings_at + index * s->ring_bytes +
				     (position & (s->ring_bytes - 1)));
}

#endif
