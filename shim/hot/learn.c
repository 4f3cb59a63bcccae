// SPDX-License-Identifier: MIT
// Who may ask the unwinder: see learn.h. Hot context. The rule: nobody waits for himself, nor for a thread of
// another process.
#include "shim/hot/learn.h"

#include <time.h>

#include "encoder/base/sys_x86_64.h"
#include "shim/hot/aside.h"
#include "shim/hot/rules.h"
#include "shim/hot/self.h"
#include "shim/hot/signals.h"

#include "shim/hot/hot.h"

#define PATIENCE 1000 // naps
#define NAP_NS 100000

bool (*pft_unwinder)(void);
struct pft_question pft_question;

static uint64_t holder; // process | thread; 0: nobody
static char stack[65536] __attribute__((aligned(64)));
static char registers[4096] __attribute__((aligned(64)));

static uint64_t myself(void)
{
	return (uint64_t)pft_session->pid << 32 | (uint32_t)pft_sys_gettid();
}

// A holder of another process was in the middle when this one was forked: what it left is not to be used.
static bool may_end(uint64_t who, uint64_t me)
{
	return who != me && who >> 32 == me >> 32;
}

static bool hold(uint64_t me)
{
	const struct timespec nap = {0, NAP_NS};

	for (unsigned naps = 0; naps < PATIENCE; naps++) {
		uint64_t who = 0;

		if (__atomic_compare_exchange_n(&holder, &who, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (!may_end(who, me))
			return false;
		pft_sys2(SYS_nanosleep, &nap, NULL);
	}
	return false;
}

static uint64_t ask(uintptr_t address)
{
	uint64_t word = pft_rules_find(address); // another may have asked meanwhile

	if (word)
		return word;
	pft_question = (struct pft_question){.address = address};
	if (!pft_aside(pft_unwinder, stack + sizeof(stack), registers, pft_aside_has_xsave()))
		return 0;
	if (pft_rule_unpack(pft_question.word).mapping) // else it is no code of an object, and of no lasting
		pft_rules_keep(address, pft_question.word);
	return pft_question.word;
}

uint64_t pft_learn(uintptr_t address)
{
	uint64_t word = pft_rules_find(address);
	uint64_t signals;

	if (word || !__atomic_load_n(&pft_unwinder, __ATOMIC_ACQUIRE))
		return word;
	signals = pft_signals_hold();
	if (hold(myself())) {
		word = ask(address);
		pft_learn_release();
	}
	pft_signals_release(signals);
	return word;
}

bool pft_learn_hold(void)
{
	return hold(myself());
}

void pft_learn_release(void)
{
	__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
}
