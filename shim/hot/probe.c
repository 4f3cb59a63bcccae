// SPDX-License-Identifier: MIT
// Measuring the trampoline with itself: see probe.h. Startup context. The rule: the thread's own block is put
// back before anybody else could record.
#include "shim/hot/probe.h"

#include <stdbool.h>
#include <x86intrin.h>

#include "shim/hot/clock.h"
#include "shim/hot/self.h"
#include "shim/hot/trampoline.h"

#include "shim/hot/hot.h"

#define CALLS 64
#define ROUNDS 8
#define RING_BYTES (2 * CALLS * sizeof(struct pft_record))

// Of stack, around the slots of our calls.
#define REACH 4096

static struct pft_self self;
static struct pft_record ring[2 * CALLS];
static char frames[2 * REACH] __attribute__((aligned(32)));

static void nothing(void)
{
	__asm__ volatile("");
}

// Room for all of a round's records, and frame records for what is `here`.
static void sit_down(uintptr_t here)
{
	self = (struct pft_self){
		.head = pft_head_of(0, REACH | 1),
		.begin_limit = RING_BYTES,
		.end_limit = RING_BYTES,
		.low = (here & ~(uintptr_t)15) - REACH / 2,
		.frames = frames,
		.ring = (char *)ring,
		.ring_mask = RING_BYTES - 1,
		.busy = UINT32_MAX,
	};
	pft_self = &self;
}

// Ticks that so many calls take.
static uint64_t time_calls(void (*function)(void))
{
	uint64_t start = __rdtsc();

	for (unsigned i = 0; i < CALLS; i++)
		function();
	return __rdtsc() - start;
}

static uint64_t ticks_inside(void)
{
	uint64_t ticks = 0;

	for (unsigned i = 0; i < CALLS; i++)
		ticks += ring[2 * i + 1].ticks - ring[2 * i].ticks;
	return ticks;
}

static uint64_t least(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

// A tick in nanoseconds is not known yet: what all rounds took by both clocks says it.
static uint32_t ns_of(uint64_t ticks, uint64_t all_ns, uint64_t all_ticks)
{
	return all_ticks != 0 ? (uint32_t)(ticks * all_ns / all_ticks / CALLS) : 0;
}

// These ticks are nanoseconds.
static struct pft_probe_cost measure_clock(void)
{
	uint64_t all = UINT64_MAX;
	uint32_t ns;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t start = pft_clock_ticks(), end = start;

		for (unsigned j = 0; j < CALLS; j++)
			end = pft_clock_ticks();
		all = least(all, end - start);
	}
	ns = (uint32_t)(all / CALLS);
	return (struct pft_probe_cost){ns, ns};
}

static struct pft_probe_cost measure_calls(void)
{
	struct pft_self *own = pft_self;
	void (*thunk)(void) = (void (*)(void))pft_thunk(PFT_HOOK_PROBE);
	uint64_t all = UINT64_MAX, inside = UINT64_MAX, bare = UINT64_MAX;
	struct pft_clock_reading start = pft_clock_read(), end;

	pft_originals[PFT_HOOK_PROBE] = (void *)nothing;
	for (unsigned i = 0; i < ROUNDS; i++) {
		sit_down((uintptr_t)__builtin_frame_address(0));
		all = least(all, time_calls(thunk));
		inside = least(inside, ticks_inside());
		bare = least(bare, time_calls(nothing));
	}
	pft_self = own;
	end = pft_clock_read();
	return (struct pft_probe_cost){
		.inside_ns = ns_of(inside, end.boot_ns - start.boot_ns, end.ticks - start.ticks),
		.outside_ns = ns_of(all > inside + bare ? all - inside - bare : 0,
			end.boot_ns - start.boot_ns, end.ticks - start.ticks),
	};
}

struct pft_probe_cost pft_probe_measure(void)
{
	return pft_clock_is_tsc() ? measure_calls() : measure_clock();
}
