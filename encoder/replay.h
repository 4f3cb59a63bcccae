// SPDX-License-Identifier: MIT
// From records to verbs: reads the rings of a session, keeps each thread's open calls, applies the filters
// (shortest duration, greatest depth), tells the trace, and keeps the two commit records. The flusher of a
// living process and `recover` of a dead one run this same code. Flusher context.
//
// A round for one thread is: drain, commit, and only then may the ring's room be given back to the thread.
// What lies behind an event on a foreign stack is drained by a pass, when all threads have been.
#ifndef PFT_REPLAY_H
#define PFT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "encoder/trace.h"

struct pft_replay;
struct pft_watch;

// A replay of `session` into the trace file `fd`; both stay the caller's. `clocks` as for pft_trace_open.
// NULL when there is no memory. As there, `fd` may be -1.
struct pft_replay *pft_replay_open(struct pft_session *session, int fd, struct pft_clocks clocks);

// For `recover`: goes on from the whole commit record, as if the process had not died. `fd` is the trace file
// and `json_fd` that of JSON, cut where the record says; either may be -1. NULL when there is no memory.
struct pft_replay *pft_replay_resume(struct pft_session *session, int fd, int json_fd);

// The trace file has another descriptor from now on.
void pft_replay_reopen(struct pft_replay *replay, int fd);

// As pft_trace_json: right after pft_replay_open, and when that file has another descriptor.
int pft_replay_json(struct pft_replay *replay, int fd);

// From now on what is drained is told to `watch` as well, which stays the caller's and outlives the replay.
void pft_replay_watch(struct pft_replay *replay, struct pft_watch *watch);

// A fresh reading of the recording clock beside the others: renews the timeline. To be called before the
// first drain, and best at the start of each round.
void pft_replay_clocks(struct pft_replay *replay, uint64_t ticks, struct pft_clocks clocks);

// Encodes thread `index` from its tail up to ring position `head`, or up to the first event on a stack that
// is not its own. The first call after the entry was taken makes the thread's track (and the instant "thread
// begin"); a changed name is told. `in_flight`: the thread may have read its clock for an event that lies
// behind the head, so what is open as far as one knows may have ended.
void pft_replay_drain(struct pft_replay *replay, uint32_t index, uint32_t head, bool in_flight);

// As drain for a thread that keeps the newest events in its ring: what is overwritten by now is counted as
// lost, and nothing is read. To be called before its positions have come half round. Whether there is
// something to commit.
bool pft_replay_advance(struct pft_replay *replay, uint32_t index, uint32_t head);

// When every thread has been drained: goes on with the events on foreign stacks of all of them, in order of
// time, up to the latest reading of the clocks, which must have been taken before the first of the heads, or
// `all` of them, when no thread records any more. Whether there were any. Closing does that as well.
bool pft_replay_pass(struct pft_replay *replay, bool all);

// Whether nothing of thread `index` waits for a pass. It has been drained before.
bool pft_replay_is_drained(const struct pft_replay *replay, uint32_t index);

// The window was closed, and all that was recorded in it is drained: slices that are open end.
void pft_replay_pause(struct pft_replay *replay);

// The thread has ended and is drained: "thread end", its totals are kept, its track is retired.
// The entry may be taken anew only after the next commit.
void pft_replay_end(struct pft_replay *replay, uint32_t index);

// Writes to the file, fills the older commit record with everything that was drained or ended since,
// and makes it the whole one. 0, or -errno from writing (said once; the commit then counts the loss).
int pft_replay_commit(struct pft_replay *replay);

// Ring position of thread `index` up to which everything is committed: what may be overwritten.
uint32_t pft_replay_tail(const struct pft_replay *replay, uint32_t index);

// A commit after which the trace goes on in the next segment: `fd` and `json_fd` as for pft_trace_turn, and
// `number` of pft_segments. The one before it is completed with the totals so far. 0; or -errno from writing
// that one, and nothing has changed; or from writing the next.
int pft_replay_turn(struct pft_replay *replay, uint32_t number, int fd, int json_fd);

// An instant of ours on the track of thread `index`, behind what is drained of it.
void pft_replay_mark(struct pft_replay *replay, uint32_t index, const char *name);

// Counts so far. Begins that a filter still holds back are produced, but neither written nor filtered yet.
struct pft_totals pft_replay_totals(const struct pft_replay *replay);

// Bytes of the trace file, the present segment, that are good.
uint64_t pft_replay_trace_bytes(const struct pft_replay *replay);

// Of the larger one of the files that are written.
uint64_t pft_replay_file_bytes(const struct pft_replay *replay);

// Says the totals so far in the trace: nothing more may come. Begins that are held back count as filtered so
// far, but for those on the stack of thread `leaving`, which is about to execute another program and may
// never return: they are written, however young. 0: no thread is.
void pft_replay_say_totals(struct pft_replay *replay, uint32_t leaving);

// Last commit, attributes with the totals (handed out as well), memory freed. 0 or -errno.
int pft_replay_close(struct pft_replay *replay, struct pft_totals *totals);

#endif
