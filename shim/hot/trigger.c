// SPDX-License-Identifier: MIT
// Timing calls for PFT_TRIGGER: see trigger.h. Hot context.
#include "shim/hot/trigger.h"

#include "shim/hot/clock.h"
#include "shim/hot/ring.h"
#include "shim/hot/window.h"

#include "shim/hot/hot.h"

static uint64_t over; // nanoseconds; 0: it is off
static uint32_t met; // 1 + the entry's index; 0: none. writers: threads, from 0; flusher, to 0

void pft_trigger_start(uint64_t over_ns)
{
	pft_clock_start_spans();
	over = over_ns;
}

void pft_trigger_forget(void)
{
	__atomic_store_n(&met, 0, __ATOMIC_RELAXED);
}

bool pft_trigger_is_on(void)
{
	return over != 0;
}

// Who asks stores that and then looks whether the flusher sleeps; it says that it sleeps, and looks here
// before it sleeps long.
void pft_trigger_meet(uint32_t hook, uint64_t began, uint32_t index)
{
	uint32_t none = 0;

	if (!over || !(pft_window_marks[hook] & PFT_MARK_TRIGGER) ||
		pft_clock_span_ns(pft_clock_ticks() - began) <= over)
		return;
	if (__atomic_compare_exchange_n(&met, &none, index + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		pft_ring_wake_flusher();
}

bool pft_trigger_is_met(void)
{
	return __atomic_load_n(&met, __ATOMIC_SEQ_CST) != 0;
}

bool pft_trigger_take(uint32_t *index)
{
	uint32_t found = __atomic_exchange_n(&met, 0, __ATOMIC_SEQ_CST);

	*index = found - 1;
	return found != 0;
}
