// SPDX-License-Identifier: MIT
// The verbs of a trace: what happened, in plain C types. Behind them stand the packet writers and, when asked
// for, the writer of Chrome JSON. Flusher context (or any single thread): one owner, no locks, memory from
// its own arena.
//
// Times are nanoseconds of CLOCK_BOOTTIME. On a thread's track begins, ends and instants come in order of
// of time. On a fiber's a call may be told when it has ended, after what lies inside of it: readers sort by
// time. A verb never fails: when the file cannot be written, pft_trace_flush says so, once, and what follows
// is counted as dropped.
#ifndef PFT_TRACE_H
#define PFT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pft_json_point;
struct pft_session;
struct pft_trace;
struct pft_track;

struct pft_clocks {
	uint64_t boot_ns, monotonic_ns, real_ns; // read together
};

struct pft_totals {
	uint64_t produced, written, filtered, dropped; // events: a begin is one, an end is one
};

// Starts writing to `fd` at its present offset (append mode is fine); fd stays the caller's. With -1 no
// packets are written, which is for a trace that is Chrome JSON only. Process, names, command line and
// settings are taken from the session, which must outlive the trace. `first_sequence`: packet sequence ids
// start behind this one (0 for a new file). NULL when there is no memory.
struct pft_trace *pft_trace_open(
	struct pft_session *session, int fd, struct pft_clocks clocks, uint32_t first_sequence);

// The file has another descriptor from now on.
void pft_trace_reopen(struct pft_trace *trace, int fd);

// Right after pft_trace_open: everything goes to `fd`, an empty file, as Chrome JSON as well. Later: that
// file has another descriptor. What is open is not in it before it ends. 0 or -ENOMEM.
int pft_trace_json(struct pft_trace *trace, int fd);

// As pft_trace_json, for `recover`: the file, which is cut at that length, is gone on with. 0 or -ENOMEM.
int pft_trace_json_resume(struct pft_trace *trace, int fd, struct pft_json_point point);

// How far the JSON has come; all zero without.
struct pft_json_point pft_trace_json_point(const struct pft_trace *trace);

// The file of packets, and that of JSON, end here; `fd` and `json_fd` (-1: there is none) are the next ones,
// empty. Totals must have been said and everything flushed. The next files stand alone: what describes
// process, threads and names is said anew, and what is open must be, by pft_trace_continue. Nothing in them
// is shown earlier than `from_ns`, nor than what an earlier file shows on its track: a slice that began
// before begins there and says how long it had been open.
void pft_trace_turn(struct pft_trace *trace, int fd, int json_fd, uint64_t from_ns);

// A fresh reading; written at the next start of a sequence's state.
void pft_trace_clocks(struct pft_trace *trace, struct pft_clocks clocks);

// A thread's track and packet sequence. `name` may be empty; it is copied. The same process and tid make
// the same track again, also in a later trace of this session. NULL when there is no memory.
struct pft_track *pft_trace_thread(struct pft_trace *trace, uint32_t tid, const char *name);
void pft_trace_name(struct pft_track *track, const char *name);

// What became of a thread's events, as the description of its track: at its end, or what is said `so_far`,
// which the next one replaces. Of what it has produced, `elsewhere` are events on other stacks, whose fibers
// tell them.
void pft_trace_account(struct pft_track *track, struct pft_totals totals, uint64_t elsewhere, bool so_far);

// Right after pft_trace_thread, for `recover`: a slice is open on this track from what an earlier trace wrote
// into the same file, inside of those that were named before. Its end may come now.
void pft_trace_resume(struct pft_track *track, uint64_t ns, uint32_t id);

// A child track of a thread's track for a stack that is not the thread's own (coroutine, alternate stack).
// NULL when there is no memory.
struct pft_track *pft_trace_fiber(struct pft_track *thread, const char *name);

// Names the track of a fiber in the trace and, unless it is 0, in the JSON, and makes it again for `recover`;
// pft_trace_resume may follow. NULL when there is no memory.
uint64_t pft_trace_uuid(const struct pft_track *track);
uint64_t pft_trace_json_tid(const struct pft_track *track);
struct pft_track *pft_trace_fiber_again(struct pft_trace *trace, uint64_t uuid, uint64_t json_tid);

// A call of hook `id` (its name and category come from the session's hook table) begins or ends.
// Depth is counted and capped at PFT_DEPTH_MAX here: deeper calls are counted, not written. `stack` is where
// the call came from: the number of its caller's frame among the session's; 0: not known. Viewers show one at
// the begin and one at the end.
void pft_trace_begin(struct pft_track *track, uint64_t ns, uint32_t id, uint32_t stack);
void pft_trace_end(struct pft_track *track, uint64_t ns, uint32_t stack);
// As end, marked with the annotation `unwound` = true: left by longjmp, a throw or an abandoned stack.
void pft_trace_end_unwound(struct pft_track *track, uint64_t ns);

// After a turn, the outermost first: a call whose slice an earlier file left open.
void pft_trace_continue(struct pft_track *track, uint64_t ns, uint32_t id, uint32_t stack);

void pft_trace_instant(struct pft_track *track, uint64_t ns, const char *name, const char *category);

// As instant, for the first event of the process: where the session knows what the process comes from, an
// arrow leads from there to this event. What it comes from is described here as well, so that the arrow is
// seen without the other trace, and the same tracks are meant when both are opened together.
void pft_trace_arrive(struct pft_track *track, uint64_t ns, const char *name, const char *category);

// Events were lost on this track: open slices are closed at `ns`, then one packet with the count and
// cleared state, clock snapshot and defaults follows, and names are interned anew.
void pft_trace_gap(struct pft_track *track, uint64_t ns, uint64_t dropped);

// Slices that are open on the track now and whose begin is in the trace.
uint32_t pft_trace_depth(const struct pft_track *track);

// The track says no more; its memory is reused.
void pft_trace_retire(struct pft_track *track);

// Writes everything that was said to the files. The first -errno that writing one of them met, once; else 0.
int pft_trace_flush(struct pft_trace *trace);

// Begins and ends that were said but are not in the file of packets, because it could not be written.
// UINT64_MAX: JSON could not, and lacks some as well; an event must be in both.
uint64_t pft_trace_lost(const struct pft_trace *trace);

// Bytes in the file of packets that are whole, counted from where this trace, or at the last turn the file,
// began.
uint64_t pft_trace_bytes(const struct pft_trace *trace);

// Of the larger one of the files.
uint64_t pft_trace_file_bytes(const struct pft_trace *trace);

uint32_t pft_trace_sequences(const struct pft_trace *trace);

// Before totals behind which more may come: what has ended is in the JSON for good, and no part of its end.
void pft_trace_hold_nothing(struct pft_trace *trace);

// Says the totals so far, as trace attributes; what is said last counts. The JSON is complete after the next
// flush, with what is open as such; what is said later takes that back.
void pft_trace_totals(struct pft_trace *trace, struct pft_totals totals);

// The totals, a last flush, whose answer is returned, and all memory freed. Open slices
// stay open.
int pft_trace_close(struct pft_trace *trace, struct pft_totals totals);

#endif
