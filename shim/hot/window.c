// SPDX-License-Identifier: MIT
// Opening and closing: see window.h. Hot context. The one rule: what a state asks for is stored before the
// state, so who sees the window open finds what will close it.
#include "shim/hot/window.h"

#include <time.h>

#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "shim/hot/self.h"

#include "shim/hot/hot.h"

uint8_t pft_window_marks[PFT_HOOKS_MAX];

// Of a process and its forked children, which go on with the window as it stands.
static struct pft_edge start_edge, stop_edge; // PFT_EDGE_NONE: it does not come, or has come
static uint64_t start_ns = UINT64_MAX, stop_ns = UINT64_MAX; // of a delay; UINT64_MAX: none
static uint64_t skipped; // events, for a start by count
static uint32_t watched; // the mark that is looked for

static void expect(struct pft_edge edge, uint64_t *due_ns, uint32_t mark)
{
	*due_ns = UINT64_MAX;
	if (edge.kind == PFT_EDGE_DELAY)
		*due_ns = pft_clock_ns(CLOCK_MONOTONIC) + edge.amount;
	__atomic_store_n(&watched, edge.kind == PFT_EDGE_CALL ? mark : 0, __ATOMIC_SEQ_CST);
}

void pft_window_start(struct pft_edge start, struct pft_edge stop)
{
	start_edge = start;
	stop_edge = stop;
	start_ns = stop_ns = UINT64_MAX;
	skipped = 0;
	pft_session->window = start.kind != PFT_EDGE_NONE;
	if (start.kind == PFT_EDGE_NONE)
		expect(stop, &stop_ns, PFT_MARK_STOP);
	else
		expect(start, &start_ns, PFT_MARK_START);
}

static bool is_open(uint32_t window)
{
	return !pft_window_is_closed(window);
}

static bool move(uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(
		&pft_session->window, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void pft_window_open(void)
{
	uint32_t window = pft_session_window(pft_session);

	if (is_open(window))
		return;
	start_edge.kind = PFT_EDGE_NONE;
	start_ns = UINT64_MAX;
	expect(stop_edge, &stop_ns, PFT_MARK_STOP);
	move(window, window - 1);
	pft_ring_wake_flusher(); // it may have a time to keep
}

void pft_window_close(void)
{
	uint32_t window = pft_session_window(pft_session);

	if (!is_open(window))
		return;
	__atomic_store_n(&pft_session->closed_ticks, pft_clock_ticks(), __ATOMIC_RELAXED);
	stop_edge.kind = PFT_EDGE_NONE;
	stop_ns = UINT64_MAX;
	__atomic_store_n(&watched, 0, __ATOMIC_SEQ_CST);
	if (move(window, window + 3))
		pft_ring_arm_all();
	pft_ring_wake_flusher();
}

bool pft_window_watches(void)
{
	return __atomic_load_n(&watched, __ATOMIC_SEQ_CST) != 0;
}

void pft_window_meet(uint32_t hook)
{
	uint32_t met = pft_window_marks[hook] & __atomic_load_n(&watched, __ATOMIC_RELAXED);

	if (met & PFT_MARK_START)
		pft_window_open();
	if (met & PFT_MARK_STOP)
		pft_window_close();
}

void pft_window_skip(unsigned events)
{
	if (start_edge.kind == PFT_EDGE_EVENTS &&
		__atomic_add_fetch(&skipped, events, __ATOMIC_RELAXED) >= start_edge.amount)
		pft_window_open();
}

bool pft_window_counts(void)
{
	return stop_edge.kind == PFT_EDGE_EVENTS && is_open(pft_session_window(pft_session));
}

void pft_window_count(uint64_t events)
{
	if (events >= stop_edge.amount)
		pft_window_close();
}

void pft_window_look(uint64_t now_ns)
{
	if (now_ns >= start_ns)
		pft_window_open();
	if (now_ns >= stop_ns)
		pft_window_close();
}

uint64_t pft_window_due_ns(void)
{
	return start_ns < stop_ns ? start_ns : stop_ns;
}
