// SPDX-License-Identifier: MIT
// Seats: taking, sitting down, getting up. Hot context (a thread attaches at its first event, wherever that
// is), and app context for threads that pthread_create announces. The one rule: a thread has one seat. So
// signals are held while it sits down, and a handler that cannot be held finds a block that admits nothing.
#include "shim/hot/self.h"

#include <linux/prctl.h>
#include <sys/mman.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/aside.h"
#include "shim/hot/clock.h"
#include "shim/hot/guest.h"
#include "shim/hot/pages.h"
#include "shim/hot/ring.h"
#include "shim/hot/signals.h"

#include "shim/hot/hot.h"

// More threads than this at one time do not record.
#define SEATS_MAX 4096

// What a thread has before it attaches, and while it attaches or ends: a zero floor admits nothing.
static struct pft_self nobody __attribute__((aligned(64)));
static struct pft_self gone __attribute__((aligned(64)));

__thread struct pft_self *pft_self __attribute__((tls_model("initial-exec"))) = &nobody;

bool (*pft_forked)(void);
struct pft_session *pft_session;
struct pft_process pft_process __attribute__((aligned(PFT_PAGE)));

static struct pft_self *seats[SEATS_MAX];
static uint32_t seat_count;

// Between two tries to seat threads when there was no memory for one.
#define REFUSED_NS UINT64_C(100000000)
static uint64_t refused_until_ns;

// ---- recording --------------------------------------------------------------------------------------

static bool is_over; // not wiped: children of a process whose recording has ended do not record either

bool pft_recording_start(void)
{
	if (pft_sys_madvise(&pft_process, sizeof(pft_process), MADV_WIPEONFORK) < 0)
		return false;
	__atomic_store_n(&pft_process.recording, PFT_RECORDING_ON, __ATOMIC_RELEASE);
	return true;
}

static bool move_recording(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(
		&pft_process.recording, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static bool renew_seats(void);

// A child of fork has one thread, so one stack and one place for the registers serve.
static bool start_child(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	static char registers[4096] __attribute__((aligned(64)));
	bool started = false;
	uint64_t signals;

	if (!pft_forked || is_over)
		return false;
	signals = pft_signals_hold();
	if (move_recording(PFT_RECORDING_NONE, PFT_RECORDING_STARTING)) {
		started = pft_aside(pft_forked, stack + sizeof(stack), registers, pft_aside_has_xsave()) &&
			  renew_seats();
		move_recording(PFT_RECORDING_STARTING, started ? PFT_RECORDING_ON : PFT_RECORDING_STOPPED);
	}
	pft_signals_release(signals);
	return started;
}

bool pft_recording_is_on(void)
{
	uint32_t state = __atomic_load_n(&pft_process.recording, __ATOMIC_ACQUIRE);

	return state == PFT_RECORDING_ON || (state == PFT_RECORDING_NONE && start_child());
}

bool pft_recording_stop(void)
{
	is_over = true;
	return move_recording(PFT_RECORDING_ON, PFT_RECORDING_STOPPED);
}

// ---- seats ------------------------------------------------------------------------------------------

static struct pft_self *seat_at(uint32_t index)
{
	return __atomic_load_n(&seats[index], __ATOMIC_ACQUIRE);
}

struct pft_self *pft_self_from(uint32_t *index)
{
	uint32_t count = __atomic_load_n(&seat_count, __ATOMIC_ACQUIRE);

	while (*index < count && !seat_at(*index))
		(*index)++;
	return *index < count ? seat_at(*index) : NULL;
}

static void *map(size_t size)
{
	void *at = pft_sys_mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return pft_sys_failed(at) ? NULL : at;
}

static void raise_count(uint32_t count)
{
	uint32_t present = __atomic_load_n(&seat_count, __ATOMIC_RELAXED);

	while (present < count && !__atomic_compare_exchange_n(&seat_count, &present, count, true,
					  __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static struct pft_self *make_seat(uint32_t index)
{
	struct pft_self *self = map(2 * (size_t)PFT_PAGE);

	if (!self)
		return NULL;
	if (pft_sys_madvise(self, PFT_PAGE, MADV_WIPEONFORK) < 0) {
		pft_sys_munmap(self, 2 * (size_t)PFT_PAGE);
		return NULL;
	}
	pft_self_seat(self)->index = index;
	__atomic_store_n(&seats[index], self, __ATOMIC_RELEASE);
	raise_count(index + 1);
	return self;
}

// Frame records for a stack of that size, or for its upper part when memory is short: what lies below has
// foreign records. Untouched pages cost nothing; huge pages would.
static bool make_frames(struct pft_seat *seat, size_t stack_bytes)
{
	seat->own_stack_bytes = stack_bytes;
	if (seat->stack_bytes >= stack_bytes)
		return true;
	if (seat->frames)
		pft_sys_munmap(seat->frames, 2 * seat->stack_bytes);
	for (seat->frames = NULL; stack_bytes >= PFT_PAGE; stack_bytes /= 2) {
		seat->frames = map(2 * stack_bytes);
		if (!seat->frames)
			continue;
		pft_sys_madvise(seat->frames, 2 * stack_bytes, MADV_NOHUGEPAGE);
		seat->stack_bytes = seat->own_stack_bytes = stack_bytes;
		return true;
	}
	seat->stack_bytes = 0;
	return false;
}

// What the session keeps of a thread: both its commit records and its ring. A lap over fresh pages would cost
// 80 times one over warm ones, so they are faulted in before the first record.
static bool make_ring(struct pft_seat *seat)
{
	uint32_t index = seat->index;

	if (!seat->ring_ready)
		seat->ring_ready =
			pft_pages_reserve(pft_commit_thread(pft_session_commit(pft_session, 0), index),
				sizeof(struct pft_commit_thread)) &&
			pft_pages_reserve(pft_commit_thread(pft_session_commit(pft_session, 1), index),
				sizeof(struct pft_commit_thread)) &&
			pft_pages_reserve(pft_session_record(pft_session, index, 0), pft_session->ring_bytes);
	return seat->ring_ready;
}

// The table of threads is reserved as far as it is used. Threads that come at once may reserve the same
// again.
static bool has_entry(uint32_t index)
{
	static uint64_t ready; // how many; above it the process: the table of a forked child is a new one
	uint64_t found = __atomic_load_n(&ready, __ATOMIC_RELAXED);
	uint32_t count = found >> 32 == pft_session->pid ? (uint32_t)found : 0;

	if (index < count)
		return true;
	if (!pft_pages_reserve(pft_session_thread(pft_session, count),
		    (index + 1 - count) * sizeof(struct pft_session_thread)))
		return false;
	__atomic_store_n(&ready, (uint64_t)pft_session->pid << 32 | (index + 1), __ATOMIC_RELAXED);
	return true;
}

// In a forked child: seats are what they were, the session is a new one. The caller's own is taken, also
// while it has not sat down yet: it may be making a thread.
static bool renew_seats(void)
{
	struct pft_self *self;

	for (uint32_t index = 0; (self = pft_self_from(&index)); index++) {
		pft_self_seat(self)->ring_ready = false;
		if (!has_entry(index))
			return false;
	}
	if (pft_self != &nobody && pft_self != &gone)
		pft_session_thread(pft_session, pft_self_seat(pft_self)->index)->state = PFT_THREAD_TAKEN;
	return true;
}

static uint64_t round_stack(uint64_t bytes)
{
	const uint64_t most = 128u << 20;

	bytes = bytes < most ? bytes : most;
	return (bytes + PFT_PAGE - 1) & -(uint64_t)PFT_PAGE;
}

struct pft_self *pft_self_take(size_t stack_bytes)
{
	uint32_t index;

	for (index = 0; index < pft_session->threads_max && index < SEATS_MAX && has_entry(index); index++) {
		struct pft_session_thread *entry = pft_session_thread(pft_session, index);
		uint32_t state = PFT_THREAD_FREE;
		struct pft_self *self;

		if (__atomic_load_n(&entry->state, __ATOMIC_RELAXED) != state ||
			!__atomic_compare_exchange_n(&entry->state, &state, PFT_THREAD_TAKEN, false,
				__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		self = seat_at(index);
		if (!self)
			self = make_seat(index);
		if (self && make_frames(pft_self_seat(self), round_stack(stack_bytes)) &&
			make_ring(pft_self_seat(self)))
			return self;
		__atomic_store_n(&entry->state, PFT_THREAD_FREE, __ATOMIC_RELEASE);
		return NULL;
	}
	return NULL;
}

void pft_self_give_back(struct pft_self *self)
{
	struct pft_session_thread *entry = pft_session_thread(pft_session, pft_self_seat(self)->index);

	__atomic_store_n(&entry->state, PFT_THREAD_FREE, __ATOMIC_RELEASE);
}

static bool has_name(const struct pft_session_thread *entry, const char *name)
{
	uint32_t i = 0;

	while (name[i] && __atomic_load_n(&entry->name[i], __ATOMIC_RELAXED) == name[i])
		i++;
	return __atomic_load_n(&entry->name[i], __ATOMIC_RELAXED) == name[i];
}

void pft_self_name(struct pft_session_thread *entry, const char *name)
{
	uint32_t i = 0;

	if (has_name(entry, name) || !pft_session_name_begin(entry))
		return;
	for (; name[i]; i++)
		__atomic_store_n(&entry->name[i], name[i], __ATOMIC_RELEASE);
	__atomic_store_n(&entry->name[i], '\0', __ATOMIC_RELEASE);
	pft_session_name_end(entry);
}

void pft_self_read_name(struct pft_self *self)
{
	char name[PFT_NAME_BYTES] = "";

	if (pft_sys2(SYS_prctl, PR_GET_NAME, name) == 0)
		pft_self_name(self->entry, name);
}

static void fill_entry(struct pft_self *self, uint32_t position)
{
	struct pft_session_thread *entry = self->entry;

	entry->tid = (uint32_t)pft_sys_gettid();
	entry->serial = __atomic_add_fetch(&pft_session->serials, 1, __ATOMIC_RELAXED);
	entry->begin_at = position;
	entry->end_ticks = 0;
	entry->name_turn = 0;
	entry->dropped = 0;
	entry->other_slots = 0;
	pft_self_read_name(self);
	entry->begin_ticks = pft_clock_ticks();
}

static void sit_down(struct pft_self *self, uintptr_t stack_high)
{
	struct pft_seat *seat = pft_self_seat(self);

	seat->stack_high = seat->stack_known = stack_high & -(uintptr_t)16;
	self->index = seat->index;
	self->low = seat->stack_high - seat->own_stack_bytes;
	self->frames = seat->frames;
	self->ring = (char *)pft_session_record(pft_session, seat->index, 0);
	self->ring_mask = (uint32_t)pft_session->ring_bytes - 1;
	self->bottom = (uint32_t)seat->own_stack_bytes | 1;
	__atomic_store_n(&self->waiting, 0, __ATOMIC_RELAXED);
	self->gave_up = 0;
	self->dropped_unsaid = 0;
	self->shut = 0;
	self->window = pft_session_window(pft_session) & ~1u;
	self->entry = pft_session_thread(pft_session, seat->index);
	fill_entry(self, seat->position);
	__atomic_store_n(&self->foreign_open, self->entry->serial << 32, __ATOMIC_RELAXED);
	pft_ring_start(self, seat->position, self->bottom);
	__atomic_store_n(&self->entry->state, PFT_THREAD_LIVE, __ATOMIC_RELEASE);
	self->alive = true;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pft_self = self;
}

void pft_self_begin(struct pft_self *self, uintptr_t stack_high)
{
	uint64_t signals = pft_signals_hold();

	if (pft_self == &nobody)
		sit_down(self, stack_high);
	else
		pft_self_give_back(self);
	pft_signals_release(signals);
}

void pft_self_end(void)
{
	struct pft_self *self = pft_self;
	struct pft_session_thread *entry;

	pft_self = &gone; // for handlers
	if (!self->alive)
		return;
	entry = self->entry;
	pft_self_read_name(self);
	entry->end_ticks = pft_clock_ticks();
	pft_self_seat(self)->position = pft_head_position(self->head);
	__atomic_store_n(&entry->state, PFT_THREAD_ENDED, __ATOMIC_RELEASE);
	pft_ring_wake_flusher();
	// Should it record once more (the last thread of a process runs the atexit handlers), it attaches
	// anew.
	pft_self = &nobody;
}

// A thread that nobody announced. glibc keeps the thread control block (%fs:0 points to itself, psABI 3.4.6)
// at the upper end of the stacks that it allocates; the main thread was announced at startup.
static uintptr_t stack_high_guess(void)
{
	uintptr_t block;

	__asm__("mov %%fs:0, %0" : "=r"(block));
	return block;
}

// Taking a seat may fail for want of memory, and would at every call: it is tried again after a while only.
static bool is_refused(void)
{
	return pft_clock_ns(CLOCK_MONOTONIC) < __atomic_load_n(&refused_until_ns, __ATOMIC_RELAXED);
}

static struct pft_self *attach(void)
{
	const size_t usual_stack = 8u << 20;
	struct pft_self *self = NULL;

	pft_self = &gone; // for handlers that cannot be held
	if (!is_refused())
		self = pft_self_take(usual_stack);
	if (self) {
		sit_down(self, stack_high_guess());
		return self;
	}
	if (!is_refused())
		__atomic_store_n(
			&refused_until_ns, pft_clock_ns(CLOCK_MONOTONIC) + REFUSED_NS, __ATOMIC_RELAXED);
	__atomic_add_fetch(&pft_session->unseated, 2, __ATOMIC_RELAXED); // a begin and its end
	pft_self = &nobody;
	return NULL;
}

// The parent's session is mapped still, and its thread sits where ours did.
uint32_t pft_self_forked_tid(void)
{
	struct pft_self *self = pft_self;

	if (self == &nobody || self == &gone)
		return 0;
	return pft_session_thread(pft_session, pft_self_seat(self)->index)->tid;
}

// In a forked child: the seat is ours as it was, the session is new, and what is open was begun elsewhere.
static struct pft_self *reattach(struct pft_self *self)
{
	struct pft_seat *seat = pft_self_seat(self);

	pft_self = &gone;
	if (!has_entry(seat->index) || !make_ring(seat))
		return NULL;
	sit_down(self, seat->stack_high);
	return self;
}

// Looks who it is once signals are held: a handler may have been first.
static struct pft_self *seat_thread(void)
{
	uint64_t signals = pft_signals_hold();
	struct pft_self *self = pft_self;

	if (self == &nobody)
		self = attach();
	else if (!self->alive)
		self = self == &gone ? NULL : reattach(self);
	pft_signals_release(signals);
	return self;
}

struct pft_self *pft_self_get(void)
{
	struct pft_self *self = pft_self;

	if (self == &gone || !pft_recording_is_on())
		return NULL;
	if (!self->alive)
		self = seat_thread();
	if (self)
		pft_guest_want();
	return self;
}

bool pft_self_runs_on(struct pft_self *self, uintptr_t slot)
{
	uintptr_t place = slot >> 14;
	uintptr_t *known = &self->known_stacks[place % 8];

	if (*known == place)
		return true;
	if ((uint32_t)pft_sys_gettid() != self->entry->tid)
		return false;
	*known = place;
	return true;
}
