// SPDX-License-Identifier: MIT
// A thread's own block: all that the hot path touches, found through one thread-local pointer. Hot context;
// written by its thread, read by the flusher as noted at each word.
//
// The block is a page marked MADV_WIPEONFORK: in a child of any kind of fork it reads zero, a floor of zero
// admits no call, so the child's first event takes the slow path and starts a session of its own. What must
// outlive the fork (where the stack and the frame records are) lies in the seat behind it.
#ifndef PFT_SELF_H
#define PFT_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "encoder/session.h"
#include "shim/hot/frame.h"
#include "shim/hot/stacks.h"

#define PFT_PAGE 4096

// `head` packs what changes together when a call begins or ends, so that one unlocked compare-and-swap
// commits it: a handler that interrupts sees both or neither, and so does a siglongjmp out of it.
//   low half:  floor. Calls whose slot lies at an offset from `low` below the floor are inside the innermost
//              open call; its own slot is at floor + 8. An odd floor is the bottom: no call is open.
//   high half: ring position, in bytes, wrapping.
struct pft_self {
	uint64_t head; // writer: thread, unlocked cmpxchg. reader: flusher (acquire)
	uint32_t begin_limit; // position from which a begin takes the slow path. writers: thread, flusher
			      // (arming)
	uint32_t end_limit; // likewise for an end; the room between is kept for the ends of open calls
	uintptr_t low; // lowest address of the native stack that has frame records
	char *frames; // frame record of the slot at `low`
	char *ring;
	uint32_t ring_mask;
	// Position for which a writer is storing a record, or stored the last one. When it is the position of
	// the head, that writer was interrupted: its stores may still come, so nobody else writes there
	// (ring.h). writer: thread, before it reads the clock. reader: flusher
	uint32_t busy;

	// Slow path.
	uint32_t tail
		__attribute__((aligned(64))); // writer: flusher (release). Futex word of waiting threads
	uint32_t waiting; // writer: thread; the flusher wakes it when it moves the tail
	uint32_t bottom; // the odd floor
	uint32_t gave_up; // a wait ended at its bound: drop until the tail moves
	uint32_t gave_up_tail;
	uint32_t index; // of thread entry and ring in the session
	// low half: calls open on foreign stacks, for whose ends room is kept too; high half: of the thread's
	// serial. writers: any thread, atomically: a call may end on another one, and a later thread may sit
	// here
	uint64_t foreign_open;
	uint64_t dropped_unsaid; // events dropped since the last gap record
	struct pft_session_thread *entry;
	uintptr_t known_stacks[8]; // foreign places that were seen to be run by this thread
	uint32_t shut; // the window was closed when it asked to record last
	uint32_t window; // that the last record was written in: of the session's word
	bool alive; // a thread sits here; zero after a fork
};

_Static_assert(offsetof(struct pft_self, head) == 0, "trampoline: SELF_HEAD");
_Static_assert(offsetof(struct pft_self, begin_limit) == 8, "trampoline: SELF_BEGIN_LIMIT");
_Static_assert(offsetof(struct pft_self, end_limit) == 12, "trampoline: SELF_END_LIMIT");
_Static_assert(offsetof(struct pft_self, low) == 16, "trampoline: SELF_LOW");
_Static_assert(offsetof(struct pft_self, frames) == 24, "trampoline: SELF_FRAMES");
_Static_assert(offsetof(struct pft_self, ring) == 32, "trampoline: SELF_RING");
_Static_assert(offsetof(struct pft_self, ring_mask) == 40, "trampoline: SELF_RING_MASK");
_Static_assert(offsetof(struct pft_self, busy) == 44, "trampoline: SELF_BUSY");
_Static_assert(sizeof(struct pft_self) <= PFT_PAGE, "the block is one page");

// A place that threads take one after another: the block, frame records and the ring stay warm for the next.
struct pft_seat {
	uint32_t index;
	uint32_t position; // of the ring, when the last thread left it
	char *frames; // reserved memory, two bytes for one of stack
	size_t stack_bytes; // that they serve
	size_t own_stack_bytes; // of the thread that sits here, at most that
	uintptr_t stack_high;
	bool ring_ready; // its pages have been faulted in
	// what walk.c keeps; nothing of it must outlive a walk
	uintptr_t stack_known; // from here up to stack_high there is readable memory
	uint32_t stack_turn; // counts walks
	uint64_t codes[PFT_STACK_FRAMES]; // of the frames that the last one met
	// what pthread_create hands to the new thread
	void *(*start)(void *);
	void *argument;
};

_Static_assert(sizeof(struct pft_seat) <= PFT_PAGE, "and the seat another");

static inline struct pft_seat *pft_self_seat(struct pft_self *self)
{
	return (struct pft_seat *)((char *)self + PFT_PAGE);
}

// Of the calling thread. Never NULL: a thread that does not record points to a block that admits nothing.
extern __thread struct pft_self *pft_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

// What a forked child does at its first event: a session of its own, at the same address. Set at startup.
// It is called on a stack of its own, with the vector registers saved, so it may run any of our code.
extern bool (*pft_forked)(void) __attribute__((visibility("hidden")));

// The session that this process records into, or NULL. Its address never changes, in children neither.
extern struct pft_session *pft_session __attribute__((visibility("hidden")));

enum pft_recording {
	PFT_RECORDING_NONE, // not started, or a forked child that has not started yet
	PFT_RECORDING_STARTING,
	PFT_RECORDING_ON,
	PFT_RECORDING_STOPPED,
};

// A page of its own, marked MADV_WIPEONFORK as the blocks are: a child reads NONE, whichever way it was made.
struct pft_process {
	uint32_t recording; // enum pft_recording
	char rest[PFT_PAGE - sizeof(uint32_t)];
};

extern struct pft_process pft_process __attribute__((visibility("hidden"), aligned(PFT_PAGE)));

// Startup: recording begins. False when the kernel cannot wipe pages on fork (before Linux 4.14).
bool pft_recording_start(void);

// Whether this process records. The first question in a forked child starts its recording.
bool pft_recording_is_on(void);

// The first to ask gets true, and ends it; other threads record nothing more.
bool pft_recording_stop(void);

// The block of this thread, attached when it has none yet. NULL when this thread does not record (now).
struct pft_self *pft_self_get(void);

// In a forked child, before its session: the thread of the parent that became this one. 0: it did not record.
uint32_t pft_self_forked_tid(void);

// Takes a seat. `stack_bytes`: of the thread that shall sit there. NULL when all are taken or memory is
// short.
struct pft_self *pft_self_take(size_t stack_bytes);
void pft_self_give_back(struct pft_self *self);

// The calling thread sits down: from here on it records. `stack_high` is above every slot of its stack. When
// a signal handler on this thread has recorded before, it has a seat, and this one is given back.
void pft_self_begin(struct pft_self *self, uintptr_t stack_high);

// The calling thread records no more.
void pft_self_end(void);

// What the kernel keeps of a thread's name, with the NUL (TASK_COMM_LEN).
#define PFT_NAME_BYTES 16

// Puts the thread's name, which is shorter than PFT_THREAD_NAME, into its entry, unless it is there: whatever
// is put there is told in the trace. By the thread, or by the flusher.
void pft_self_name(struct pft_session_thread *entry, const char *name);

// Copies the kernel's name of the calling thread into its entry.
void pft_self_read_name(struct pft_self *self);

// Whether this thread may record a call at `slot`, which is not on its native stack: a thread made by a raw
// clone without a TLS of its own runs with the block of its maker, and must not write into it.
bool pft_self_runs_on(struct pft_self *self, uintptr_t slot);

// The next seat from `*index` on that was ever made; its index goes to `*index`. NULL behind the last.
// Flusher.
struct pft_self *pft_self_from(uint32_t *index);

// Whether the stack that has frame records holds `slot`, and the record of the slot `offset` bytes above
// `low`.
static inline bool pft_self_is_native(const struct pft_self *self, uintptr_t slot)
{
	return slot - self->low < (self->bottom & ~1u);
}

static inline struct pft_frame *pft_self_frame(const struct pft_self *self, uint64_t offset)
{
	return (struct pft_frame *)(self->frames + 2 * offset);
}

static inline uint32_t pft_head_floor(uint64_t head)
{
	return (uint32_t)head;
}

static inline uint32_t pft_head_position(uint64_t head)
{
	return (uint32_t)(head >> 32);
}

static inline uint64_t pft_head_of(uint32_t position, uint32_t floor)
{
	return (uint64_t)position << 32 | floor;
}

#endif
