// SPDX-License-Identifier: MIT
// Stands in for shim/hot/guest.c where ThreadSanitizer watches: it knows the threads of pthread_create only.
// The same verbs (guest.h), and a file table of its own for the thread, as the tests expect it.
#define _GNU_SOURCE
#include "shim/hot/guest.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/clock.h"
#include "tests/unit/unannounced.h"

enum life { IDLE, RUNNING, AWAY };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t life; // enum life
static bool has_thread;
static uint32_t left_to, was_left;
static pthread_t thread;
static void (*body)(void);

static void *enter(void *unused)
{
	pft_sys1(SYS_unshare, CLONE_FS | CLONE_FILES); // unshare itself is ours, and would stop us
	body();
	return unused;
}

void pft_guest_prepare(void (*run)(void))
{
	body = run;
	pft_guest_allow();
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

static void come_back(void)
{
	if (__atomic_load_n(&left_to, __ATOMIC_RELAXED) != (uint32_t)pft_sys_gettid())
		return;
	pft_guest_allow();
	__atomic_store_n(&was_left, 1, __ATOMIC_RELAXED);
}

void pft_guest_want(void)
{
	sigset_t all, before;

	if (pft_guest_is_left())
		come_back();

	// Most calls find it there: the lock would order threads that nothing orders.
	if (__atomic_load_n(&life, __ATOMIC_RELAXED) != IDLE)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_mutex_lock(&lock);
	if (life == IDLE) {
		thread = unannounced_create(enter, NULL);
		has_thread = true;
		__atomic_store_n(&life, RUNNING, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int pft_guest_error(void)
{
	return 0;
}

bool pft_guest_is_apart(void)
{
	return true;
}

bool pft_guest_join(uint64_t ns)
{
	uint64_t end_ns = pft_clock_ns(CLOCK_REALTIME) + ns;
	struct timespec end = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};

	pthread_mutex_lock(&lock);
	if (has_thread && pthread_timedjoin_np(thread, NULL, &end) == 0) {
		has_thread = false;
		__atomic_store_n(&life, AWAY, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&lock);
	return !has_thread;
}

bool pft_guest_refuse(void)
{
	bool away;

	pthread_mutex_lock(&lock);
	if (life == IDLE)
		__atomic_store_n(&life, AWAY, __ATOMIC_RELAXED);
	away = life == AWAY;
	pthread_mutex_unlock(&lock);
	return away || pft_guest_join(0);
}

void pft_guest_keep(const int *fds, unsigned count)
{
	(void)fds;
	(void)count;
}

void pft_guest_allow(void)
{
	pft_guest_leave_to(0);
	pthread_mutex_lock(&lock);
	__atomic_store_n(&life, IDLE, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
}
