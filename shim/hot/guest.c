// SPDX-License-Identifier: MIT
// The bare thread of the flusher. Hot context: the first event starts it; see guest.h.
#include "shim/hot/guest.h"

#include <linux/close_range.h>
#include <linux/errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <sys/mman.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "encoder/session.h"
#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"
#include "shim/hot/signals.h"

#include "shim/hot/hot.h"

#define STACK_BYTES (256 * 1024)
#define GUARD_BYTES 4096
// libc's thread-local variables (errno) lie below the thread pointer (psABI 3.4.6, TLS variant II), its
// thread control block above. Ours is all zero but for what the compiler and libc read through %fs.
#define TLS_BYTES (64 * 1024)
#define BLOCK_BYTES 8192

#define START_NS UINT64_C(1000000000)

#define TRAP_FLAG 0x100u // of the processor's flags: a trap after each instruction

#define EVERYTHING (GUARD_BYTES + STACK_BYTES + TLS_BYTES + BLOCK_BYTES)

long pft_guest_clone(unsigned long flags, void *stack, uint32_t *tid, void *tls, void (*run)(void));

enum life { IDLE, STARTING, RUNNING, AWAY };

// enum life. Who moves it from IDLE starts the thread, or keeps it from starting; the thread ends with AWAY.
static uint32_t life;
static char *memory;
static uint32_t thread; // its id; the kernel clears it and wakes us when it ends (CLONE_CHILD_CLEARTID)
static uint32_t counted; // its id, until the kernel has forgotten it, which is a moment later
static uint32_t left_to; // the thread whose next event starts the guest again; 0: nobody's
static uint32_t was_left; // that has happened
static int start_error;
static int kept[PFT_GUEST_KEPT]; // that it keeps of the program's file table, ascending
static unsigned kept_count;
static bool apart; // it has a file table of its own
static void (*body)(void);

static long map_memory(void)
{
	void *at;

	if (memory)
		return 0;
	at = pft_sys_mmap(NULL, EVERYTHING, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (pft_sys_failed(at))
		return (long)at;
	pft_sys_mprotect(at, GUARD_BYTES, PROT_NONE);
	memory = at;
	return 0;
}

// %fs:0 and %fs:16 of glibc's thread control block point to itself; %fs:40 is the stack protector's value.
static void *make_block(void)
{
	char *block = memory + GUARD_BYTES + STACK_BYTES + TLS_BYTES;
	uintptr_t canary;

	__asm__("mov %%fs:40, %0" : "=r"(canary));
	*(void **)block = block;
	*(void **)(block + 16) = block;
	*(uintptr_t *)(block + 40) = canary;
	return block;
}

static void close_range_of(unsigned first, unsigned last)
{
	unsigned fd;

	if (first > last || pft_sys3(SYS_close_range, first, last, 0) == 0)
		return;
	for (fd = first; fd <= last && fd < 65536; fd++) // before Linux 5.9
		pft_sys_close((int)fd);
}

// A file table, directory and root of its own. The copy of the program's table is let go of at once, or a
// pipe that the program closes would stay open.
static void part(void)
{
	int next = 0;

	// What a container forbids (unshare) the other may do: it parts only the file table.
	apart = pft_sys1(SYS_unshare, CLONE_FS | CLONE_FILES) == 0 ||
		pft_sys3(SYS_close_range, ~0u, ~0u, CLOSE_RANGE_UNSHARE) == 0;
	if (!apart)
		return;
	for (unsigned i = 0; i < kept_count; i++) {
		if (kept[i] > next)
			close_range_of((unsigned)next, (unsigned)kept[i] - 1);
		next = kept[i] + 1;
	}
	close_range_of((unsigned)next, ~0u);
}

static void enter(void)
{
	__atomic_store_n(&counted, (uint32_t)pft_sys_gettid(), __ATOMIC_RELEASE);
	part();
	body();
	__atomic_store_n(&life, AWAY, __ATOMIC_RELEASE);
}

// It must never be the thread that a signal of the program is delivered to, and inherits the mask: all of
// them, those of the processor too. It inherits the trap flag as well, and with SIGTRAP blocked that kills.
static long clone_thread(void)
{
	// What pthread_create passes: emulators know no other threads.
	const unsigned long clone_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
					  CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID |
					  CLONE_CHILD_CLEARTID;
	const unsigned long long cpu_flags = __builtin_ia32_readeflags_u64();
	const uint64_t all = ~UINT64_C(0);
	uint64_t mask = 0;
	long result;

	__builtin_ia32_writeeflags_u64(cpu_flags & ~TRAP_FLAG);
	pft_sys4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, sizeof(mask));
	result = pft_guest_clone(
		clone_flags, memory + GUARD_BYTES + STACK_BYTES, &thread, make_block(), enter);
	pft_signals_release(mask);
	__builtin_ia32_writeeflags_u64(cpu_flags);
	return result;
}

static bool move_life(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&life, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void start(void)
{
	long result = map_memory();

	if (result == 0)
		result = clone_thread();
	if (result < 0) {
		start_error = (int)result;
		pft_ring_expect_none();
	}
	move_life(STARTING, result < 0 ? AWAY : RUNNING); // unless it has ended already
}

void pft_guest_prepare(void (*run)(void))
{
	body = run;
	thread = 0;
	counted = 0;
	was_left = 0;
	pft_guest_keep(NULL, 0);
	pft_guest_allow();
}

static bool is_left_to_me(void)
{
	uint32_t id = __atomic_load_n(&left_to, __ATOMIC_RELAXED);

	return id && id == (uint32_t)pft_sys_gettid();
}

static void come_back(void)
{
	__atomic_store_n(&left_to, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&was_left, 1, __ATOMIC_RELAXED);
	move_life(AWAY, IDLE);
}

void pft_guest_want(void)
{
	uint64_t signals;

	if (__atomic_load_n(&life, __ATOMIC_RELAXED) == AWAY && is_left_to_me())
		come_back();
	if (__atomic_load_n(&life, __ATOMIC_RELAXED) != IDLE)
		return;
	// A child of vfork runs in its parent's memory: a thread of the child's would not outlive it.
	if (pft_session->pid != (uint32_t)pft_sys_getpid())
		return;
	signals = pft_signals_hold();
	if (move_life(IDLE, STARTING))
		start();
	pft_signals_release(signals);
}

int pft_guest_error(void)
{
	return start_error;
}

bool pft_guest_is_apart(void)
{
	return !start_error && apart;
}

static bool has_thread(void)
{
	return __atomic_load_n(&thread, __ATOMIC_ACQUIRE) != 0;
}

// Behind its last instruction the thread still is one of this process, which unshare(2) and setns(2) refuse
// to processes with several.
static bool is_counted(void)
{
	uint32_t id = __atomic_load_n(&counted, __ATOMIC_ACQUIRE);

	return id && pft_sys3(SYS_tgkill, pft_sys_getpid(), id, 0) != -ESRCH;
}

bool pft_guest_join(uint64_t ns)
{
	const struct timespec nap = {0, 20000000}, moment = {0, 20000};
	uint64_t start_ns = pft_clock_ns(CLOCK_MONOTONIC);

	while (has_thread() || is_counted()) {
		if (pft_clock_ns(CLOCK_MONOTONIC) - start_ns > ns)
			return false;
		// The kernel wakes with a shared futex (mm_release): not FUTEX_PRIVATE.
		if (has_thread())
			pft_sys_futex(&thread, FUTEX_WAIT, __atomic_load_n(&thread, __ATOMIC_RELAXED), &nap);
		else
			pft_sys2(SYS_nanosleep, &moment, NULL);
	}
	__atomic_store_n(&counted, 0, __ATOMIC_RELEASE); // the id may be given out again
	return true;
}

// Another thread may be about to start it. Not for ever: it may be our own, stopped by a handler that cannot
// be held.
static void await_start(void)
{
	uint64_t start_ns = pft_clock_ns(CLOCK_MONOTONIC);

	while (__atomic_load_n(&life, __ATOMIC_ACQUIRE) == STARTING &&
		pft_clock_ns(CLOCK_MONOTONIC) - start_ns < START_NS)
		__builtin_ia32_pause();
}

bool pft_guest_refuse(void)
{
	if (move_life(IDLE, AWAY))
		return true;
	await_start();
	return __atomic_load_n(&life, __ATOMIC_ACQUIRE) == AWAY && pft_guest_join(START_NS);
}

static void keep(int fd)
{
	unsigned place = kept_count++;

	for (; place > 0 && kept[place - 1] > fd; place--)
		kept[place] = kept[place - 1];
	kept[place] = fd;
}

void pft_guest_keep(const int *fds, unsigned count)
{
	kept_count = 0;
	for (unsigned i = 0; i < count; i++)
		if (fds[i] >= 0 && kept_count < PFT_GUEST_KEPT)
			keep(fds[i]);
}

void pft_guest_leave_to(uint32_t id)
{
	__atomic_store_n(&left_to, id, __ATOMIC_RELAXED);
}

bool pft_guest_is_left(void)
{
	return __atomic_load_n(&left_to, __ATOMIC_RELAXED) != 0;
}

bool pft_guest_was_left(void)
{
	return __atomic_exchange_n(&was_left, 0, __ATOMIC_RELAXED);
}

void pft_guest_allow(void)
{
	start_error = 0;
	pft_guest_leave_to(0);
	__atomic_store_n(&life, IDLE, __ATOMIC_RELEASE);
}
