// SPDX-License-Identifier: MIT
// The tree of frames: see stacks.h. Hot context. The rule: a frame is whole before a chain leads to it, and
// is never changed after.
#include "shim/hot/stacks.h"

#include "shim/hot/clock.h"
#include "shim/hot/pages.h"
#include "shim/hot/self.h"

#include "shim/hot/hot.h"

#define CHUNK 4096u // frames that are faulted in at once
#define CHUNKS (PFT_FRAMES_MAX / CHUNK)

static bool on;
static uint64_t over;
static uint8_t wanted[PFT_HOOKS_MAX / 8];

void pft_stacks_start(uint64_t over_ns)
{
	over = over_ns;
	if (over_ns)
		pft_clock_start_spans();
	on = true;
}

void pft_stacks_want(uint32_t id)
{
	wanted[id / 8] |= (uint8_t)(1u << id % 8);
}

bool pft_stacks_on(void)
{
	return on;
}

bool pft_stacks_at_begin(uint32_t id)
{
	return on && over == 0 && (wanted[id / 8] & 1u << id % 8);
}

bool pft_stacks_at_end(void)
{
	return over != 0;
}

bool pft_stacks_took_long(uint64_t began)
{
	return pft_clock_span_ns(pft_clock_ticks() - began) > over;
}

// ---- the tree ---------------------------------------------------------------------------------------

static uint32_t chain_of(uint64_t code, uint32_t caller)
{
	const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15); // 2^64 / golden ratio: spreads differences
	uint64_t mixed = (code ^ caller * odd) * odd;

	return (uint32_t)(mixed >> 32) % PFT_STACK_HEADS;
}

// Between `number` and `end` in a chain.
static uint32_t find(uint32_t number, uint32_t end, uint64_t code, uint32_t caller)
{
	while (number != end) {
		const struct pft_session_frame *frame = pft_session_frame(pft_session, number);

		if (frame->code == code && frame->caller == caller)
			return number;
		number = frame->next;
	}
	return 0;
}

// In a forked child the session, and so each of its pages, is a new one.
static bool is_there(uint32_t number)
{
	static uint32_t there_in[CHUNKS]; // process
	uint32_t chunk = number / CHUNK;

	if (__atomic_load_n(&there_in[chunk], __ATOMIC_RELAXED) == pft_session->pid)
		return true;
	if (!pft_pages_reserve(
		    pft_session_frame(pft_session, chunk * CHUNK), CHUNK * sizeof(struct pft_session_frame)))
		return false;
	__atomic_store_n(&there_in[chunk], pft_session->pid, __ATOMIC_RELAXED);
	return true;
}

static uint32_t fresh_number(void)
{
	uint32_t number = __atomic_load_n(&pft_session->frames, __ATOMIC_RELAXED);

	if (number < pft_session->frames_max)
		number = __atomic_fetch_add(&pft_session->frames, 1, __ATOMIC_RELAXED);
	return number < pft_session->frames_max && is_there(number) ? number : 0;
}

// What was inserted in front since the chain was searched is searched as well: each frame is there once, and
// its number may be lost to that.
static uint32_t insert(uint32_t *chain, uint32_t first, uint32_t number)
{
	struct pft_session_frame *frame = pft_session_frame(pft_session, number);
	uint32_t searched = first;

	for (;;) {
		uint32_t found;

		frame->next = first;
		if (__atomic_compare_exchange_n(
			    chain, &first, number, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			return number;
		found = find(first, searched, frame->code, frame->caller);
		if (found)
			return found;
		searched = first;
	}
}

uint32_t pft_stacks_add(uint64_t code, uint32_t caller)
{
	uint32_t *chain = pft_session_stack_head(pft_session, chain_of(code, caller));
	uint32_t first = __atomic_load_n(chain, __ATOMIC_ACQUIRE);
	uint32_t found = find(first, 0, code, caller);
	uint32_t number = found ? found : fresh_number();
	struct pft_session_frame *frame;

	if (found || !number)
		return number;
	frame = pft_session_frame(pft_session, number);
	frame->code = code;
	frame->caller = caller;
	return insert(chain, first, number);
}
