// SPDX-License-Identifier: MIT
// The writer of Chrome's trace event format: JSON that chrome://tracing, Perfetto and speedscope open. Called
// by trace.c beside or instead of the packet writers, and by `pft convert`. Flusher context, or any single
// thread. Memory follows what is open at one time, not the length of the trace.
//
//   {"displayTimeUnit":"ms","traceEvents":[
//   {"ph":"X","pid":1,"tid":2,"ts":1000.005,"dur":0.007,"name":"read","cat":"libc.so.6","args":{...}},
//   ...
//   ],"otherData":{...}}
//
// One event a line. The file ends as JSON after every write, so what a killed process leaves loads as well;
// only the object form can say `displayTimeUnit`, and of that form viewers do not accept a missing end.
//
// Why X when a slice has ended, in order of ends. B and E would need no memory of what is open, but twice
// the bytes, and viewers match an E to its B by guessing. X in order of begins would hold back the whole
// trace while main() runs. All viewers sort X by time; what the file's order decides is who is the parent
// when two slices begin at the same time. chrome://tracing takes the one that stands first in the file;
// speedscope and Perfetto take the longer one, and the first of two that are equally long. So a slice that
// began with its parent is held back until its parent is written, or, a nanosecond later, until the next
// flush: what is flushed must be in the file. These are a few: one a level, and such as took no time. What
// never ended is a B, written at the end.
#ifndef PFT_JSON_H
#define PFT_JSON_H

#include <stdint.h>

#include "encoder/base/arena.h"
#include "encoder/json_text.h"

struct pft_json;
struct pft_json_track;

// Starts writing to `fd`, an empty regular file; it stays the caller's. NULL when there is no memory.
struct pft_json *pft_json_open(int fd, struct pft_arena *memory);

// The file has another descriptor from now on.
void pft_json_reopen(struct pft_json *json, int fd);

// The file ends here, which must be finished and written; `fd` is the next one, empty. Names must be said
// again there, and so must slices that are open.
void pft_json_turn(struct pft_json *json, int fd);

// How far a writer has come, for one that goes on when it was killed. What is open then must be said again.
struct pft_json_point {
	uint64_t bytes; // in the file, its end left out; 0: none of it is good
	uint64_t fibers; // so far
};

struct pft_json_point pft_json_point(const struct pft_json *json);

// Goes on from there in `fd`, which is cut at that length. NULL when there is no memory.
struct pft_json *pft_json_resume(int fd, struct pft_json_point point, struct pft_arena *memory);

void pft_json_process(struct pft_json *json, uint32_t pid, const char *name);

// The track of a thread, under its real pid and tid; and one for what is no thread, such as a stack that is
// not the thread's own, under a tid that no thread has: slices of one tid must nest. NULL when there is no
// memory.
struct pft_json_track *pft_json_thread(struct pft_json *json, uint32_t pid, uint64_t tid);
struct pft_json_track *pft_json_fiber(struct pft_json *json, uint32_t pid);

// Under which tid.
uint64_t pft_json_tid(const struct pft_json_track *track);

// What the viewer calls the track. Nothing is written for an empty name.
void pft_json_name(struct pft_json_track *track, const char *name);

// A slice begins and ends. Times are nanoseconds; on one track they do not step back. Texts are copied.
void pft_json_begin(struct pft_json_track *track, uint64_t ns, const char *name, const char *category,
	const struct pft_arg *args, size_t count);
void pft_json_end(struct pft_json_track *track, uint64_t ns, const struct pft_arg *args, size_t count);

void pft_json_instant(struct pft_json_track *track, uint64_t ns, const char *name, const char *category,
	const struct pft_arg *args, size_t count);

// So many events were lost here: an instant of ours.
void pft_json_lost(struct pft_json_track *track, uint64_t ns, uint64_t dropped);

// A counter of the process has this value, a number, from now on.
void pft_json_counter(
	struct pft_json_track *track, uint64_t ns, const char *name, const struct pft_arg *value);

// An arrow leaves the slice that is open now, passes through it, or ends in it.
enum pft_json_flow { PFT_JSON_FLOW_START = 's', PFT_JSON_FLOW_STEP = 't', PFT_JSON_FLOW_END = 'f' };
void pft_json_flow(struct pft_json_track *track, uint64_t ns, enum pft_json_flow flow, uint64_t id);

// The track says no more; its memory is reused. What is open on it never ended.
void pft_json_retire(struct pft_json_track *track);

// Before `finish`, when more may come: slices that are held back are written, and no part of the end then.
void pft_json_let_go(struct pft_json *json);

// Writes everything that was said to the file, but for slices that are open. The first -errno that writing
// met, once; else 0.
int pft_json_flush(struct pft_json *json);

// Whether writing has failed.
bool pft_json_lacks(const struct pft_json *json);

// Completes the file: what is open, and `otherData`. What is said after it takes that back first.
void pft_json_finish(struct pft_json *json, const struct pft_arg *other, size_t count);

#endif
